#pragma once

#include "evaluate/base/evaluation.h"
#include "model/layer/layer_config.h"

namespace difflab {

/// Cost of the model: forward pass, and forward and backward pass with the loss of every token, at
/// each length and with each of the kernels, on random tokens. Medians of interleaved rounds.
/// Compares with arXiv 2410.05258, table 7. Times depend on the machine and on what else it does;
/// run one at a time (launcher.workers=1).
struct ThroughputConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "throughput";
  static constexpr std::string_view kAbout =
      "tokens per second, peak memory and rate relative to the sgemm of the library";
  static constexpr std::array kMetrics = {speed_metric("forward_tokens_per_second_t*"),
                                          speed_metric("training_tokens_per_second_t*"),
                                          MetricFacts{.name = "training_memory_mib_t*",
                                                      .better = Better::kLower,
                                                      .least = 0,
                                                      .of_machine = OfMachine::kMemory}};

  std::vector<std::int64_t> lengths = {};  ///< empty: the trained length
  std::int64_t tokens = 4'096;             ///< of a batch
  std::int64_t rounds = 9;
  std::vector<Kernels> kernels = {Kernels::kPlain, Kernels::kFused};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("lengths", lengths, "sequence lengths T in tokens; empty: the trained length",
          config::at_least(1));
    visit("tokens", tokens, "tokens of a batch, at least one sequence", config::at_least(1));
    visit("rounds", rounds, "timings of each case, taken in turn", config::at_least(1));
    visit("kernels", kernels, "how the model is computed; metrics are those of fused");
  }
  void validate(config::Check& check) const {
    if (kernels.empty()) check.problem("kernels", "is empty; expected at least one, e.g. [fused]");
  }

  std::int64_t longest(const TaskConfig&) const { return largest_of(lengths); }

  /// Metrics: forward_tokens_per_second_tT and training_tokens_per_second_tT of the fused kernels,
  /// training_memory_mib_tT. Details: cells, each with length, kernels, pass (forward, training),
  /// sequences, tokens_per_second and its quartiles _low and _high, operations_per_token (analytic,
  /// of the products that are needed), share_of_sgemm (of the library's 1024³ matrix product, timed
  /// in the same rounds), memory_mib (peak above what was there).
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
