#pragma once

#include <set>

#include "evaluate/base/evaluation.h"

namespace difflab {

struct Answerer;

/// In-context classification by the number of shots, and how much the order of the shots matters:
/// each episode is asked the same queries with its shots in `orders` random orders and as many in
/// which the classes alternate. The margin is the accuracy of the episode's best order less that of
/// its worst, averaged over episodes: 0 for a model that does not look at the order. Follows the
/// DIFF paper (arXiv 2410.05258, section 3.5, robustness to the order of the examples).
struct InContextShotsConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "in_context_shots";
  static constexpr std::string_view kAbout =
      "in-context classification by shots, and the margin between orders of the shots";
  static constexpr std::array kMetrics = {share_metric("shots_accuracy", Better::kHigher),
                                          share_metric("shots_accuracy_chance"),
                                          share_metric("random_order_margin", Better::kLower),
                                          share_metric("alternating_order_margin", Better::kLower)};

  std::vector<std::int64_t> shots = {4, 8, 16};
  std::int64_t episodes = 16;
  std::int64_t queries = 16;
  std::int64_t orders = 10;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("shots", shots, "numbers of shots, all classes together", config::at_least(1));
    visit("episodes", episodes, "episodes per number of shots", config::at_least(1));
    visit("queries", queries, "queries per episode", config::at_least(1));
    visit("orders", orders, "orders of each kind, random and alternating by class",
          config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (shots.empty()) check.problem("shots", "is empty; expected at least one number");
    if (std::set(shots.begin(), shots.end()).size() != shots.size()) {
      check.problem("shots", "has a number twice; expected each once");
    }
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    const auto* in_context = task_as<InContextConfig>(task);
    if (in_context == nullptr) {
      check.problem("kind", "is in_context_shots; expected a task of kind in_context");
      return;
    }
    for (const auto K : shots) {
      if (K < in_context->classes) {
        check.problem("shots", concat("has ", K, "; expected at least the task's classes, ",
                                      in_context->classes, ", so that every class is shown"));
      }
    }
  }

  std::int64_t longest(const TaskConfig& task) const {
    const auto* in_context = task_as<InContextConfig>(task);
    if (in_context == nullptr || shots.empty()) return 0;
    auto longest = *in_context;
    longest.shots = largest_of(shots);
    return longest.sequence_length();
  }

  /// Metrics at the largest number of shots: shots_accuracy (both kinds of order),
  /// random_order_margin, alternating_order_margin. Details: cells, one per number of shots and
  /// kind of order: shots, order, episodes, orders, n (questions: episodes · queries), accuracy
  /// (the mean over orders), accuracy_low, accuracy_high (Wilson, n), best, worst, margin, chance.
  EvaluationResult run(const EvaluationContext& context) const;

  /// The same with whoever answers.
  EvaluationResult ask(const Answerer& answerer, const InContextConfig& task,
                       std::uint64_t seed) const;
};

}  // namespace difflab
