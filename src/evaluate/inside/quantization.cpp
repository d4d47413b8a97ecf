#include "evaluate/inside/quantization.h"

#include <limits>

#include "evaluate/base/score_batches.h"
#include "model/attention/base/attention.h"

namespace difflab {
namespace {

// Values that lie together in the dimensions `together`. Infinite ones stay: a masked logit is −∞.
at::Tensor quantize(const at::Tensor& given, std::int64_t bits, at::IntArrayRef together) {
  // In bfloat16, which has 8 bits, the levels would be rounded once more.
  const auto values = given.to(at::promote_types(given.scalar_type(), at::kFloat));
  const auto hidden = values.isinf();
  const auto seen = values.masked_fill(hidden, 0);
  const auto levels = static_cast<double>((std::int64_t{1} << (bits - 1)) - 1);
  const auto step =
      (seen.abs().amax(together, true) / levels).clamp_min(std::numeric_limits<float>::min());
  return at::where(hidden, values, (seen / step).round() * step);
}

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

// Scores a batch with every layer's output rounded token by token.
Score score_with_rounded_stream(LanguageModel& model, const Batch& batch, std::int64_t bits) {
  const auto states = model.observe(batch.inputs, [bits](const LayerView& view) {
    view.output.copy_(quantize(view.output, bits, {-1}));
  });
  const auto questions = Questions::of(batch.targets);
  const auto logits = model.head(states.flatten(0, 1).index_select(0, questions.where));
  return score_of(logits, questions, batch.targets.sizes());
}

Score score_rounded(const EvaluationContext& context, Quantized of, std::int64_t bits,
                    std::int64_t samples) {
  auto& model = context.model;
  const auto& task = *context.task.parts().front().task;
  if (bits == 0) return score_batches(context, task, samples);
  if (of == Quantized::kWeights) {
    const WithRoundedMatrices rounded(model, bits);
    return score_batches(context, task, samples);
  }
  if (of == Quantized::kStates) {
    Score all;
    for_each_batch(context, task, samples, [&](const Batch& batch) {
      all += score_with_rounded_stream(model, batch, bits);
    });
    return all;
  }
  const auto hooks = hooks_in<WithLogitHook>(model, [bits](const at::Tensor& logits) {
    return quantize(logits, bits, {-2, -1});
  });
  return score_batches(context, task, samples);
}

}  // namespace

EvaluationResult QuantizationConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  auto widths = bits;
  widths.insert(widths.begin(), 0);
  for (const auto width : widths) {
    const auto score = score_rounded(context, of, width, samples);
    Json cell{{"bits", width}};
    cell.update(cell_of(score, samples, context.task.chance_accuracy()));
    cells.push_back(std::move(cell));
    const auto metric =
        concat(prefix(), width == 0 ? "accuracy_unquantized" : concat("accuracy_", width, "_bits"));
    result.metrics[metric] = score.accuracy();
    result.metrics[metric + "_chance"] = context.task.chance_accuracy();
  }
  return result;
}

}  // namespace difflab
