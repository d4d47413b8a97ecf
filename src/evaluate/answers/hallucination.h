#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

struct Answerer;

/// How often a model answers from the context, by the share of distractors: the token-level form of
/// the DIFF paper's table 4 (arXiv 2410.05258, contextual hallucination in summaries and question
/// answering). Each answer to a question is one of
///
///   supported   the value that the context gives for that question
///   abstained   "unknown", rightly or not
///   invented    anything else: what the context gives for another question, or any other of its
///               tokens (misread), what it does not have, or a value for a question that cannot be
///               answered
///
/// A summary is written token by token, most likely first, and read as facts; each of them is
/// supported (salient, said once), invented (not in the context), or neither.
struct HallucinationConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "hallucination";
  static constexpr std::string_view kAbout =
      "answers from the context, invented or withheld, by the share of distractors";
  static constexpr std::array kMetrics = {
      share_metric("answers_accuracy", Better::kHigher),
      share_metric("answers_accuracy_chance"),
      share_metric("answers_supported_share", Better::kHigher),
      share_metric("answers_invented_share", Better::kLower),
      share_metric("answers_abstained_share"),
      share_metric("unanswerable_invented_share", Better::kLower),
      share_metric("facts_accuracy", Better::kHigher),
      share_metric("facts_accuracy_chance"),
      share_metric("facts_invented_share", Better::kLower)};

  std::vector<double> distractors = {0, 0.5, 1};
  std::int64_t samples = 200;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("distractors", distractors, "shares of distractors, see the task", config::between(0, 1));
    visit("samples", samples, "contexts per share and job", config::at_least(1));
  }
  void validate(config::Check& check) const {
    if (distractors.empty()) check.problem("distractors", "is empty; expected at least one share");
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    if (task_as<ContextQaConfig>(task) == nullptr) {
      check.problem("kind", "is hallucination; expected a task of kind context_qa");
    }
  }

  std::int64_t longest(const TaskConfig& task) const {
    const auto* base = task_as<ContextQaConfig>(task);
    if (base == nullptr) return 0;
    std::int64_t longest = 0;
    for (const double share : distractors) {
      auto config = *base;
      config.distractors = share;
      longest = std::max(longest, config.sequence_length());
    }
    return longest;
  }

  /// Metrics, means over the shares: answers_accuracy (right values and right "unknown") and
  /// answers_supported_share, answers_invented_share, answers_abstained_share,
  /// unanswerable_invented_share; for summaries facts_accuracy and facts_invented_share; those of
  /// the jobs that the task has. Details: cells with job ("question", "summary"), distractors, n,
  /// accuracy, accuracy_low, accuracy_high, chance, supported, invented; questions also have
  /// abstained, misread, unanswerable (n) and unanswerable_invented.
  EvaluationResult run(const EvaluationContext& context) const;

  /// The same with whoever answers.
  EvaluationResult ask(const Answerer& answerer, const ContextQaConfig& task,
                       std::uint64_t seed) const;
};

}  // namespace difflab
