#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Effect of the head norm on the outputs of heads and on the gradients that reach them: size and
/// tails of every head's output, and the norm of the loss' gradient with respect to it, before and
/// after the norm, which is said to "improve gradient statistics" (arXiv 2410.05258, section 2.1).
/// A kind without a head norm has the same numbers before and after, but for DIFF's constant factor
/// 1 − λ_init, which counts as after.
struct HeadStatisticsConfig : SampledEvaluation {
  static constexpr std::string_view kKind = "head_statistics";
  static constexpr std::string_view kAbout =
      "size, kurtosis and gradient of every head's output before and after the head norm";
  static constexpr std::array kMetrics = {
      positive_metric("head_rms_before"),      positive_metric("head_rms_after"),
      positive_metric("head_kurtosis_before"), positive_metric("head_kurtosis_after"),
      positive_metric("head_gradient_before"), positive_metric("head_gradient_after")};

  /// Metrics: the means over heads and layers of head_rms_*, head_kurtosis_* and head_gradient_*,
  /// each before and after the head norm. Details: cells, each with layer, head, stage (before,
  /// after), rms and kurtosis (the fourth central moment over the squared variance, 3 of normal
  /// numbers; null where an output is constant) over all channels, positions and sequences, and
  /// gradient: the norm of a sequence's mean loss' gradient with respect to all that the head puts
  /// out in it, as a root mean square over the sequences.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
