#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// How large the largest activations are beside a usual one: |logits| of the attention (q₁k₁ᵀ/√d
/// and q₂k₂ᵀ/√d of all maps, only where a position may look) and |outputs| of the layers (the
/// residual stream), all layers together. Source: arXiv 2410.05258, table 5.
struct ActivationOutliersConfig : SampledEvaluation {
  static constexpr std::string_view kKind = "activation_outliers";
  static constexpr std::string_view kAbout =
      "largest and median attention logits and hidden states (arXiv 2410.05258, table 5)";
  static constexpr std::array kMetrics = {
      positive_metric("logit_top1"), positive_metric("logit_median"),
      positive_metric("hidden_top1"), positive_metric("hidden_median")};

  /// Metrics: logit_top1 and logit_median, if there are softmax maps; hidden_top1, hidden_median.
  /// Details: cells of part "top" with activation (logit, hidden), rank (1, 2, 3, 10, 100; left out
  /// where there are fewer) and value; of part "median" with value; and of part "histogram" with
  /// activation, low, high (powers of 2 between which the size lies) and share.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
