#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Loss of a table of counts on the same targets. A language model that is no better than trigrams
/// has learned little that needs attention.
///
///   p(t | c) = (n(c, t) + δ) / (n(c) + δ V)
///
/// n counts in the training split, V is the size of the vocabulary, c the one (bigrams) or two
/// (trigrams) tokens before t. The second token of a sequence has one token before it, and counts
/// as a bigram in both. Additive smoothing: Chen and Goodman 1999, section 2.1.
struct CountModelConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "count_model";
  static constexpr std::string_view kAbout =
      "loss of bigram and trigram counts on the same text, beside the model's";
  static constexpr std::array kMetrics = {
      positive_metric("bigram_loss", 4, "loss of bigram counts"),
      positive_metric("trigram_loss", 4, "loss of trigram counts"),
      MetricFacts{.name = "loss_below_trigrams",
                  .better = Better::kHigher,
                  .decimals = 4,
                  .label = "loss below trigram counts"}};

  double smoothing = 0.1;  ///< δ
  std::int64_t samples = 256;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("smoothing", smoothing, "what is added to every count", config::between(1e-6, 100));
    visit("samples", samples, "test sequences", config::at_least(1));
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    require_text(task, kKind, check);
  }

  /// Metrics, in nats a token: bigram_loss, trigram_loss, and loss_below_trigrams, trigram_loss
  /// less the model's loss on the same sequences. Details: the model's loss and the number of
  /// targets.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
