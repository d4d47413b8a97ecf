#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Loss and accuracy on sequences that were never trained on, for the task as a whole and for each
/// of its parts.
struct HeldoutConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "heldout";
  static constexpr std::string_view kAbout =
      "loss and accuracy on sequences that were never trained on";
  static constexpr std::array kMetrics = {
      loss_metric("test_loss"), loss_metric("*_loss"),
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

/// The `metrics` of validation_metrics alone, the same to the bit. A part that none is about is not
/// scored.
/// @throws UserError for a metric that the task does not have
Json held_out(const EvaluationContext& context, const std::vector<std::string>& metrics,
              std::int64_t samples);

}  // namespace difflab
