#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// How λ is spread over tokens and heads: DIFF V2 makes one for every token and head, DIFF V1 one
/// for a layer (or head). Kinds without a λ give no cells and no metrics.
struct LambdaDistributionConfig : SampledEvaluation {
  static constexpr std::string_view kKind = "lambda_distribution";
  static constexpr std::string_view kAbout = "λ over tokens and heads";
  static constexpr std::array kMetrics = {MetricFacts{.name = "lambda_mean"},
                                          positive_metric("lambda_sd")};

  std::int64_t bins = 40;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    SampledEvaluation::visit_fields(visit);
    visit("bins", bins, "bins of the histogram, from the smallest λ to the largest of a layer",
          config::between(1, 1000));
  }

  /// Metrics: lambda_mean, lambda_sd over everything. Details: cells of part "head" with layer,
  /// head, mean, sd, low and high (the 5 % and 95 % quantile); and of part "histogram" with layer,
  /// low, high, share.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
