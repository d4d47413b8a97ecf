#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "evaluate/retrieval/needle_grid.h"

namespace difflab {

struct Answerer;

/// The needle grid for needles in text. The model writes each number itself, digit by digit, the
/// most likely one each time; ", " between two numbers is given. A number counts if all its digits
/// are right. The multi-needle evaluation of arXiv 2410.05258, section 3.4.
struct TextNeedleGridConfig {
  static constexpr std::string_view kKind = "text_needle_grid";
  static constexpr std::string_view kAbout =
      "numbers of cities found in text, over needles, queries, length and depth";
  static constexpr std::array kMetrics = {share_metric("text_grid_accuracy", Better::kHigher)};

  NeedleGridConfig grid = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    grid.visit_fields(visit);
  }
  void validate(config::Check& check) const { grid.validate(check); }
  void validate_task(const TaskConfig& task, config::Check& check) const;
  std::int64_t longest() const { return grid.longest(); }
  std::int64_t text_length() const { return grid.longest(); }

  /// Metrics: text_grid_accuracy, the mean over the cells. Details: cells as those of needle_grid;
  /// n counts numbers asked for.
  EvaluationResult run(const EvaluationContext& context) const;

  /// The same with whoever answers.
  EvaluationResult ask(const Answerer& answerer, const TextNeedleConfig& task,
                       std::uint64_t seed) const;
};

}  // namespace difflab
