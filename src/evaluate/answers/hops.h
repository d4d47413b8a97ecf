#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "evaluate/base/evaluation.h"
#include "statistics/metric_facts.h"

namespace difflab {

struct Answerer;

/// Accuracy by the number of hops, in cycles of the largest size (as Depo is evaluated in Physics
/// of Language Models, part 4.1). Only the first question of a sequence counts: a later one may be
/// the same again, and its answer then stands in the input.
struct HopsConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "hops";
  static constexpr std::string_view kAbout = "accuracy by the number of hops in the largest cycles";
  static constexpr std::array kMetrics = {share_metric("hops_accuracy", Better::kHigher),
                                          share_metric("hops_accuracy_chance"),
                                          share_metric("hops_*_accuracy", Better::kHigher)};

  std::vector<std::int64_t> hops = {};
  std::int64_t samples = 128;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit(
        "hops", hops,
        "numbers of hops; empty: the powers of two up to the task's, but for those that lead once "
        "around the cycle",
        config::at_least(1));
    visit("samples", samples, "sequences per number of hops", config::at_least(1));
  }
  void validate_task(const TaskConfig& task, config::Check& check) const;

  /// Numbers of hops that a task is asked for.
  std::vector<std::int64_t> asked(const KHopConfig& task) const;

  /// Metrics: hops_accuracy (the mean over the numbers of hops), its chance 1/N, and
  /// hops_K_accuracy. Details: cells with hops, n, correct, accuracy, accuracy_low, accuracy_high
  /// (Wilson, n sequences), chance.
  EvaluationResult run(const EvaluationContext& context) const;

  /// The same with whoever answers.
  EvaluationResult ask(const Answerer& answerer, const KHopConfig& task, std::uint64_t seed) const;
};

}  // namespace difflab
