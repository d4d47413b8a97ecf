#include "evaluate/inside/logit_quantization.h"

#include <ATen/ATen.h>

#include <memory>

#include "evaluate/base/score_batches.h"
#include "evaluate/inside/quantize.h"
#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "statistics/share.h"
#include "task/base/task.h"
#include "util/text.h"

namespace difflab {
namespace {

Score score_with(const EvaluationContext& context, std::int64_t bits, std::int64_t samples) {
  std::vector<std::unique_ptr<WithLogitHook>> hooks;
  if (bits > 0) {
    context.model.for_each_attention([&](const std::string&, Attention& attention) {
      hooks.push_back(std::make_unique<WithLogitHook>(
          attention, [bits](const at::Tensor& logits) { return quantize(logits, bits); }));
    });
  }
  const auto part = context.task.parts().front();
  return score_batches(context.model, *part.task, context.seed, Split::kTest, samples,
                       context.lanes);
}

}  // namespace

EvaluationResult LogitQuantizationConfig::run(const EvaluationContext& context) const {
  EvaluationResult result;
  auto cells = Json::array();
  std::vector<std::int64_t> all{0};
  all.insert(all.end(), bits.begin(), bits.end());
  for (const auto width : all) {
    const auto score = score_with(context, width, samples);
    const auto interval = wilson_interval(score.correct, score.targets);
    cells.push_back({{"bits", width},
                     {"samples", samples},
                     {"n", score.targets},
                     {"correct", score.correct},
                     {"accuracy", score.accuracy()},
                     {"accuracy_low", interval->low},
                     {"accuracy_high", interval->high},
                     {"chance", context.task.chance_accuracy()},
                     {"loss", score.loss()}});
    const auto metric = width == 0 ? "accuracy_unquantized" : concat("accuracy_", width, "_bits");
    result.metrics[metric] = score.accuracy();
    result.metrics[metric + "_chance"] = context.task.chance_accuracy();
  }
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
