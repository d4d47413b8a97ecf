#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Where the attention goes when the model must answer: the shares of the last position's weights
/// that lie on the begin token, on the context before the asked needle, on that needle (its key
/// and its value), on the context after it, and on the question itself. Follows arXiv 2410.05258,
/// table 3, with the asked needle at a fixed depth.
///
/// Differences of two maps have negative weights and rows that do not sum to 1. A share is
/// therefore that of |weight|: shares of a row sum to 1 for every kind of attention. The signed
/// sums are kept beside them.
struct AttentionAllocationConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "attention_allocation";
  static constexpr std::string_view kAbout =
      "shares of attention on answer and noise when the model is asked (arXiv 2410.05258, table 3)";
  static constexpr std::array kMetrics = {share_metric("attention_to_begin"),
                                          share_metric("attention_to_before"),
                                          share_metric("attention_to_answer", Better::kHigher),
                                          share_metric("attention_to_after"),
                                          share_metric("attention_to_question"),
                                          share_metric("attention_to_noise", Better::kLower)};

  std::vector<double> depths = {0, 25, 50, 75, 100};
  std::int64_t samples = 100;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("depths", depths, "depths of the asked needle, in % of the noise",
          config::between(0, 100));
    visit("samples", samples, "sequences per depth", config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (depths.empty()) check.problem("depths", "is empty; expected at least one depth");
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    if (needles_of(task) == nullptr) {
      check.problem(
          "kind", "is attention_allocation; expected a task with needles (needle, needle_recall)");
    }
  }

  /// Metrics: attention_to_REGION, the mean share over layers and depths, for begin, before,
  /// answer, after and question, and attention_to_noise = before + after. Details: cells, each with
  /// depth, layer (a number, or "all" for their mean), region, share, weight (the signed sum),
  /// samples.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
