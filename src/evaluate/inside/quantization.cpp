#include "evaluate/inside/quantization.h"

#include <ATen/ATen.h>

#include <string>
#include <utility>

#include "evaluate/base/score_batches.h"
#include "evaluate/inside/quantize.h"
#include "model/language_model.h"
#include "task/base/task.h"

namespace difflab {
namespace {

/// The matrices of a model's layers are rounded as long as this lives.
class WithRoundedMatrices {
 public:
  WithRoundedMatrices(LanguageModel& model, std::int64_t bits) {
    for (const auto& parameter : model.named_parameters()) {
      const auto& values = parameter.value();
      // The vectors of λ are a matrix if each head has its own, but no weights of a projection.
      const bool is_lambda = parameter.key().find(".lambda_") != std::string::npos &&
                             !parameter.key().ends_with(".weight");
      if (!parameter.key().starts_with("layers.") || values.dim() != 2 || is_lambda) continue;
      kept_.emplace_back(values, values.clone());
      const at::Tensor matrix = values;
      matrix.copy_(quantize(matrix, bits, {-1}));
    }
  }
  ~WithRoundedMatrices() {
    const at::NoGradGuard no_grad;
    for (const auto& [matrix, before] : kept_) matrix.copy_(before);
  }
  WithRoundedMatrices(const WithRoundedMatrices&) = delete;
  WithRoundedMatrices& operator=(const WithRoundedMatrices&) = delete;

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> kept_;
};

// What the model answers to a batch with every layer's output rounded, one token at a time.
Score score_with_rounded_stream(LanguageModel& model, const Batch& batch, std::int64_t bits) {
  const auto states = model.observe(batch.inputs, [bits](const LayerView& view) {
    view.output.copy_(quantize(view.output, bits, {-1}));
  });
  const auto questions = Questions::of(batch.targets);
  const auto logits = model.head(states.flatten(0, 1).index_select(0, questions.where));
  return score_of(logits, questions, batch.targets.sizes());
}

Score score_as_it_is(const EvaluationContext& context, std::int64_t samples) {
  return score_batches(context.model, *context.task.parts().front().task, context.seed,
                       Split::kTest, samples, context.lanes);
}

}  // namespace

template <>
EvaluationResult WeightQuantizationConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  return scores_by_bits(context, bits, samples, std::string(kPrefix), [&](std::int64_t width) {
    if (width == 0) return score_as_it_is(context, samples);
    const WithRoundedMatrices rounded(context.model, width);
    return score_as_it_is(context, samples);
  });
}

template <>
EvaluationResult HiddenQuantizationConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  return scores_by_bits(context, bits, samples, std::string(kPrefix), [&](std::int64_t width) {
    if (width == 0) return score_as_it_is(context, samples);
    Score all;
    for_each_batch(
        context.model, *context.task.parts().front().task, context.seed, Split::kTest, samples,
        [&](const Batch& batch) { all += score_with_rounded_stream(context.model, batch, width); });
    return all;
  });
}

}  // namespace difflab
