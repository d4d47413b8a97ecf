#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "config/schema/fields.h"
#include "evaluate/base/evaluation.h"
#include "statistics/metric_facts.h"

namespace difflab {

struct Answerer;

/// What a model answers where distractors lie beside the needles (distractors.h).
struct InterferenceConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "interference";
  static constexpr std::string_view kAbout =
      "which needle or distractor the answers to needles come from";
  static constexpr std::array kMetrics = {share_metric("right_answers", Better::kHigher),
                                          share_metric("right_answers_chance"),
                                          share_metric("near_answers", Better::kLower),
                                          share_metric("stale_answers", Better::kLower),
                                          share_metric("repeated_answers"),
                                          share_metric("needle_answers"),
                                          share_metric("other_answers", Better::kLower)};

  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("samples", samples, "sequences", config::at_least(1));
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    const auto* needles = needles_of(task);
    if (needles == nullptr) {
      check.problem("kind",
                    "is interference; expected a task with needles (needle, needle_recall)");
    } else if (needles->pairs() == needles->needles) {
      check.problem("kind",
                    "is interference, and no pair distracts; expected distractors of the needles");
    }
  }

  /// Metrics: shares of all answers, which add up to 1: right_answers; near_answers and
  /// stale_answers, the values of those distractors of the question; repeated_answers, the value
  /// that the same_value distractors repeat where that is wrong; needle_answers, another value of
  /// the context; other_answers, any other token. right_answers_chance. Details: cells with answer
  /// (right, near, stale, repeated, needle, other), n, count, share, share_low, share_high
  /// (Wilson, n questions).
  EvaluationResult run(const EvaluationContext& context) const;

  /// The same with whoever answers.
  EvaluationResult ask(const Answerer& answerer, const NeedleConfig& task,
                       std::uint64_t seed) const;
};

}  // namespace difflab
