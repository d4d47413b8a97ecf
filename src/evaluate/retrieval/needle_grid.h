#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

struct Answerer;

/// Retrieval over a grid of needles N × queries R × length T × depth: the share of questions
/// answered with the right value, with n and a Wilson interval per cell, and the share of sequences
/// with every question right. Follows the multi-needle evaluation of arXiv 2410.05258, section 3.4:
/// the asked needle at a fixed depth, the others anywhere, `samples` sequences a cell. Of needles
/// in text the model writes each number itself, digit by digit, the most likely one each time; ", "
/// between two numbers is given, and a number counts if all its digits are right.
struct NeedleGridConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "needle_grid";
  static constexpr std::string_view kAbout =
      "retrieval over a grid of needles, queries, length and depth";
  static constexpr std::array kFormerNames = {config::FormerName{"text_needle_grid"}};
  static constexpr std::array kMetrics = {share_metric("grid_accuracy", Better::kHigher),
                                          share_metric("text_grid_accuracy", Better::kHigher),
                                          share_metric("accuracy_n*_r*", Better::kHigher),
                                          share_metric("accuracy_n*_r*_chance"),
                                          share_metric("all_correct_n*_r*", Better::kHigher),
                                          share_metric("accuracy_t*", Better::kHigher),
                                          share_metric("accuracy_t*_chance")};

  std::vector<std::int64_t> needles = {4};
  std::vector<std::int64_t> queries = {1};
  std::vector<std::int64_t> lengths = {};  ///< empty: the trained length
  std::vector<double> depths = {0, 25, 50, 75, 100};
  std::int64_t samples = 50;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("needles", needles, "numbers of needles N", config::at_least(1));
    visit("queries", queries, "numbers of queries R; cells with R > N are left out",
          config::at_least(1));
    visit("lengths", lengths, "sequence lengths T in tokens; empty: the trained length",
          config::at_least(1));
    visit("depths", depths, "depths of the asked needle, in % of the noise",
          config::between(0, 100));
    visit("samples", samples, "sequences per cell", config::at_least(1));
  }
  void validate(config::Check& check) const;

  std::int64_t longest(const TaskConfig&) const { return largest_of(lengths); }
  std::int64_t text_length() const { return largest_of(lengths); }

  /// Needles in text: the grid has one metric, and once was a kind of its own.
  std::string_view known_as(const TaskConfig& asked) const {
    return task_as<TextNeedleConfig>(asked) == nullptr ? "" : kFormerNames.front().name;
  }
  bool gives(std::string_view metric, const TaskConfig& asked) const {
    return (metric == "text_grid_accuracy") == (task_as<TextNeedleConfig>(asked) != nullptr);
  }

  /// Every cell of the grid must be possible in this task.
  void validate_task(const TaskConfig& task, config::Check& check) const;

  /// Metrics: grid_accuracy, the mean over the cells; accuracy_nN_rR and all_correct_nN_rR for
  /// every N and R, and accuracy_tT for every length T, means over the other sides of the grid;
  /// each accuracy with its _chance. Details: cells, each with needles, queries, length, depth,
  /// samples, n (= samples · queries), correct, accuracy, accuracy_low, accuracy_high, all_correct,
  /// chance. Of needles in text the one metric is text_grid_accuracy, the mean over the cells.
  EvaluationResult run(const EvaluationContext& context) const;

  /// Needles in text with whoever answers.
  EvaluationResult ask(const Answerer& answerer, const TextNeedleConfig& task,
                       std::uint64_t seed) const;
};

}  // namespace difflab
