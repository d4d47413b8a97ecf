#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// How many heads pour their attention into one token, the first if nothing else is said: of all
/// sequences, layers and heads the share whose mean weight on token k, over the queries from k on,
/// exceeds ε. Source: arXiv 2410.10781, section 3.2.
///
/// A difference of two maps can hide a sink that both have, so its maps are looked at one by one
/// beside the sizes of its weights, as they are and in parts of the row's sum.
struct AttentionSinkConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "attention_sink";
  static constexpr std::string_view kAbout =
      "share of heads whose mean attention to the first token exceeds a threshold (arXiv "
      "2410.10781)";
  static constexpr std::array kMetrics = {
      share_metric("sink_first_map", Better::kNeither, "sink in the first map"),
      share_metric("sink_second_map", Better::kNeither, "sink in the second map"),
      share_metric("sink_weights", Better::kNeither, "sink in |weights|"),
      share_metric("sink_relative_weights", Better::kNeither, "sink in |weights|, by row")};

  std::int64_t position = 0;  ///< k, 0 for the first token
  double epsilon = 0.3;
  std::int64_t samples = 100;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("position", position, "token that is looked at, 0 for the first", config::at_least(0));
    visit("epsilon", epsilon, "mean weight above which a head counts", config::between(0, 1));
    visit("samples", samples, "test sequences", config::at_least(1));
  }
  void validate_task(const TaskConfig& task, config::Check& check) const {
    const auto T = sequence_length(task);
    if (position < T) return;
    check.problem("position", concat("is ", position, ", but sequences have ", T,
                                     " tokens; expected less than that"));
  }

  /// Metrics: sink_first_map, of the map that each head has, or of A₁ of a difference A₁ − λA₂;
  /// sink_second_map, of A₂, if there are differences; sink_weights, of the sizes of the weights;
  /// sink_relative_weights, of those divided by their sum in each row. Details: cells, each with
  /// layer, head, map (first, second, weights, relative), share (of the sequences), mean (of the
  /// mean weights), samples. Sequences without the token are left out.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
