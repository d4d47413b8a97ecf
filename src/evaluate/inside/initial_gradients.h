#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Effect of the norms before any training: the gradient of every parameter at initialisation, on
/// the first training batch, of the loss in which every target counts the same (whatever
/// train.loss.per says, so that models compare), and the root mean square of each attention layer's
/// output to the residual stream, at initialisation and after training. The head norm is said to
/// give DIFF the gradients of a Transformer (arXiv 2410.05258, appendix F). The size of the first
/// attention output relative to the embeddings that it is added to tells in one number how
/// differently models start.
struct InitialGradientsConfig : EvaluationCommon {
  static constexpr std::string_view kKind = "initial_gradients";
  static constexpr std::string_view kAbout =
      "gradient norms at initialisation and sizes of attention outputs (arXiv 2410.05258, appendix "
      "F)";
  static constexpr std::array kMetrics = {
      MetricFacts{.name = "initial_grad_norm", .least = 0, .is_initial = true},
      MetricFacts{.name = "attention_rms_initial", .least = 0, .is_initial = true},
      MetricFacts{.name = "attention_ratio_initial", .least = 0, .is_initial = true},
      positive_metric("attention_rms")};

  std::int64_t samples = 64;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    EvaluationCommon::visit_fields(visit);
    visit("samples", samples, "training sequences in the batch", config::at_least(1));
  }

  /// Metrics: initial_grad_norm, of all parameters; attention_rms_initial and attention_rms, means
  /// over the layers; attention_ratio_initial, of the first layer, over the RMS of the embeddings.
  /// Details: cells of part "gradient" with parameter (its name), layer (null outside the layers),
  /// matrix (the name within the layer), norm, rms; and of part "output" with layer, state
  /// (initial, trained), rms and stream_rms, of the residual stream that the output is added to.
  EvaluationResult run(const EvaluationContext& context) const;
};

}  // namespace difflab
