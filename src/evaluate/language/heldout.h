#pragma once

#include <functional>

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Loss and accuracy on sequences that were never trained on, for the task as a whole and for each
/// of its parts.
struct HeldoutConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "heldout";
  static constexpr std::string_view kAbout =
      "loss and accuracy on sequences that were never trained on";
  static constexpr std::array kMetrics = {
      positive_metric("test_loss", Better::kLower), positive_metric("*_loss", Better::kLower),
      MetricFacts{.name = "*_loss_excess", .better = Better::kLower},
      share_metric("*_accuracy", Better::kHigher), share_metric("*_accuracy_chance")};

  std::int64_t samples = 1'024;  ///< sequences per task part

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("samples", samples, "test sequences per task part", config::at_least(1));
  }

  /// Metrics: test_loss, then PART_loss, PART_accuracy and PART_accuracy_chance for each part;
  /// PART_loss_excess over the entropy if that is known.
  EvaluationResult run(const EvaluationContext& context) const;
};

/// Held-out figures for a metrics line, on `samples` sequences of each part of the validation
/// split: valid_loss (the parts weighted by their shares), valid_accuracy (the first part's), and
/// valid_PART_loss and valid_PART_accuracy.
Json validation_metrics(const EvaluationContext& context, std::int64_t samples);

/// A question for one of validation_metrics that has the answer yes on one side of a bound.
struct HeldoutQuestion {
  std::string asker;  ///< for whoever misspelt the metric
  std::string metric;
  std::function<bool(double)> is_met;  ///< changes its answer once at most as the value rises
};

/// The answers that the figures of validation_metrics give, found with less work: a part that no
/// question is about is not scored, and a part that is asked for its accuracy alone only until the
/// batches that are left cannot change an answer.
/// @throws UserError for a metric that the task does not have
std::vector<bool> answers_of(const EvaluationContext& context,
                             const std::vector<HeldoutQuestion>& questions, std::int64_t samples);

}  // namespace difflab
