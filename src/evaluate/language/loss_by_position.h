#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Does the loss keep falling with the context? Cross-entropy by the position of the predicted
/// token, in bins, on sequences of each length, longer than trained ones too. Source: arXiv
/// 2410.05258, figure 4.
struct LossByPositionConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "loss_by_position";
  static constexpr std::string_view kAbout =
      "loss by position in the context, beyond the trained length too (arXiv 2410.05258, figure 4)";
  static constexpr std::array kMetrics = {
      loss_metric("loss_at_*"), MetricFacts{.name = "loss_excess_at_*", .better = Better::kLower}};

  std::vector<std::int64_t> lengths = {};  ///< empty: the trained length
  std::int64_t bin = 16;                   ///< positions
  std::int64_t samples = 64;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("lengths", lengths, "sequence lengths T in tokens; empty: the trained length",
          config::at_least(1));
    visit("bin", bin, "positions that are averaged", config::at_least(1));
    visit("samples", samples, "test sequences per length", config::at_least(1));
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    require_every_token(task, kKind, check);
  }

  std::int64_t longest(const TaskConfig&) const { return largest_of(lengths); }
  std::int64_t text_length() const { return largest_of(lengths); }

  /// Metrics: loss_at_T for every length T, the mean of its last bin, and loss_excess_at_T over
  /// the entropy there if the task knows it. Details: cells, each with length, position (the first
  /// of the bin, from 1), until (the last), loss, excess (null if unknown), n.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
