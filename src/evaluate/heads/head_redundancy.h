#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// How different the heads of a layer are, and how wide each looks.
///
/// For every pair of heads: the mean of 1 − cosine between their weights [T, T] of a sequence, and
/// the linear CKA between their outputs at all positions (arXiv 1905.00414, eq. 4).
///
///   CKA(X, Y) = |XᵀY|² / (|XᵀX| |YᵀY|), Frobenius norms, columns of X, Y [n, width] centred
///
/// For every head: the share of its weights that is negative, Σ|min(A, 0)| / Σ|A|; the entropy in
/// nats of its rows, taken of p = |A| / Σ|A|, as signed weights are no probabilities; the number of
/// tokens that a row in effect attends to, exp(entropy); and the signed sum of its rows.
struct HeadRedundancyConfig : SampledEvaluation {
  static constexpr std::string_view kKind = "head_redundancy";
  static constexpr std::string_view kAbout =
      "how much heads of a layer differ (cosine of maps, CKA of outputs) and how wide they look";
  static constexpr std::array kMetrics = {
      positive_metric("map_distance", 3, "1 \u2212 cosine of heads' maps"),
      share_metric("output_cka", Better::kNeither, "CKA of heads' outputs"),
      share_metric("negative_share"),
      positive_metric("attention_entropy", 3, "entropy of attention", "nats"),
      positive_metric("attended_tokens"),
      MetricFacts{.name = "row_sum"}};

  /// Metrics: map_distance and output_cka, means over the pairs of heads of a layer and over layers
  /// (none if layers have one head); negative_share, attention_entropy, attended_tokens and
  /// row_sum, means over heads and layers. Details: cells of part "pair" with layer, head, other,
  /// map_distance, output_cka (null where an output is constant); of part "head" with layer, head,
  /// negative_share, attention_entropy, attended_tokens, row_sum; and of part "layer" with their
  /// means over the layer. Outputs are those behind the head norm. Rows without any weight have no
  /// entropy and are left out of its mean and of attended_tokens.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
