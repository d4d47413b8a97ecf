#include "evaluate/inside/logit_quantization.h"

#include <ATen/ATen.h>

#include <memory>

#include "evaluate/base/score_batches.h"
#include "evaluate/inside/quantize.h"
#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "task/base/task.h"

namespace difflab {
namespace {

Score score_with_logits_of(const EvaluationContext& context, std::int64_t bits,
                           std::int64_t samples) {
  std::vector<std::unique_ptr<WithLogitHook>> hooks;
  if (bits > 0) {
    context.model.for_each_attention([&](const std::string&, Attention& attention) {
      hooks.push_back(std::make_unique<WithLogitHook>(attention, [bits](const at::Tensor& logits) {
        return quantize(logits, bits, {-2, -1});
      }));
    });
  }
  const auto part = context.task.parts().front();
  return score_batches(context.model, *part.task, context.seed, Split::kTest, samples,
                       context.lanes);
}

}  // namespace

EvaluationResult LogitQuantizationConfig::run(const EvaluationContext& context) const {
  return scores_by_bits(context, bits, samples, "", [&](std::int64_t width) {
    return score_with_logits_of(context, width, samples);
  });
}

}  // namespace difflab
