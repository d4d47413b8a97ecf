#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// How fast a model writes: tokens a second through the cache of keys and values, behind contexts
/// of each length, alone and in batches. Reading the context is not counted. Medians of interleaved
/// rounds; random tokens, each case once untimed before it is timed. Times depend on the machine
/// and on what else it does; run one at a time (launcher.workers=1).
struct DecodingConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "decoding";
  static constexpr std::string_view kAbout =
      "tokens per second that a model writes after contexts of each length";
  static constexpr std::array kMetrics = {
      speed_metric("decoding_tokens_per_second_t*_b*"),
      MetricFacts{
          .name = "cache_mib_t*", .better = Better::kLower, .least = 0, .is_initial = true}};

  std::vector<std::int64_t> contexts = {64, 256, 1'024};
  std::vector<std::int64_t> batches = {1, 8};
  std::int64_t tokens = 16;
  std::int64_t rounds = 9;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("contexts", contexts, "tokens T that have been read", config::at_least(1));
    visit("batches", batches, "sequences B that are written at once", config::at_least(1));
    visit("tokens", tokens, "tokens that are written after each", config::at_least(1));
    visit("rounds", rounds, "timings of each case, taken in turn", config::at_least(1));
  }

  std::int64_t longest(const TaskConfig&) const {
    return contexts.empty() ? 0 : largest_of(contexts) + tokens;
  }

  /// Metrics: decoding_tokens_per_second_tT_bB, of all B sequences together, and cache_mib_tT of
  /// one sequence. Details: cells, each with length, sequences, tokens_per_second with its
  /// quartiles _low and _high, and cache_mib of all sequences.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
