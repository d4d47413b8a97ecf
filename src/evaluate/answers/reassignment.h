#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "config/schema/fields.h"
#include "evaluate/base/evaluation.h"
#include "statistics/metric_facts.h"
#include "util/text.h"

namespace difflab {

struct Answerer;

/// Which value a model gives for a key that was shown with two: the current one, the stale one, or
/// another token; and how often it is right for keys that were shown once.
struct ReassignmentConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "reassignment";
  static constexpr std::string_view kAbout =
      "current, stale and other answers for keys that got a new value";
  static constexpr std::array kMetrics = {
      share_metric("current_share", Better::kHigher), share_metric("current_share_chance"),
      share_metric("stale_share", Better::kLower),    share_metric("other_share", Better::kLower),
      share_metric("kept_accuracy", Better::kHigher), share_metric("kept_accuracy_chance")};

  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("samples", samples, "sequences", config::at_least(1));
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    const auto* mqar = task_as<MqarConfig>(task);
    if (mqar == nullptr) {
      check.problem("kind", "is reassignment; expected a task of kind mqar");
    } else if (mqar->reassigned() == 0) {
      check.problem("kind", concat("is reassignment, and task.reassign ", mqar->reassign,
                                   " gives no key a new value; expected a larger share"));
    }
  }

  /// Metrics: current_share, stale_share and other_share of the answers for keys with a new value,
  /// which add up to 1; kept_accuracy for the others, null if there are none; chances. Details:
  /// cells with keys ("reassigned", "kept"), n, correct, accuracy, accuracy_low, accuracy_high
  /// (Wilson, n questions), stale, other (shares), chance.
  EvaluationResult run(const EvaluationContext& context) const;

  /// The same with whoever answers.
  EvaluationResult ask(const Answerer& answerer, const MqarConfig& task, std::uint64_t seed) const;
};

}  // namespace difflab
