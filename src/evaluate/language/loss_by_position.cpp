#include "evaluate/language/loss_by_position.h"

#include <numeric>

#include "evaluate/base/score_batches.h"

namespace difflab {
namespace {

// The sum of the losses at every position of `samples` sequences: [T].
at::Tensor loss_sums(const EvaluationContext& context, const Task& task, std::int64_t samples) {
  auto sum = at::zeros({task.sequence_length()}, at::kDouble);
  for_each_batch(context, task, samples, [&](const Batch& batch) {
    const auto losses = token_losses(context.model.forward(batch.inputs), batch.targets);
    sum += losses.to(at::kDouble).sum(0).cpu();
  });
  return sum;
}

}  // namespace

EvaluationResult LossByPositionConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  const auto trained = sequence_length(context.task_config);
  for (const auto length : lengths.empty() ? std::vector{trained} : lengths) {
    const auto task = build_next_token_task(context.task_config, length);
    const auto sums = loss_sums(context, *task, samples);
    const auto entropies = task->token_entropies();
    for (std::int64_t begin = 0; begin < length; begin += bin) {
      const auto size = std::min(bin, length - begin);
      const auto n = size * samples;
      const double loss = sums.narrow(0, begin, size).sum().item<double>() / static_cast<double>(n);
      cells.push_back({{"length", length},
                       {"position", begin + 1},
                       {"until", begin + size},
                       {"loss", loss},
                       {"excess", Json()},
                       {"n", n}});
      if (entropies.empty()) continue;
      const double entropy =
          std::accumulate(entropies.begin() + begin, entropies.begin() + begin + size, 0.0) /
          static_cast<double>(size);
      cells.back()["excess"] = loss - entropy;
    }
    result.metrics[concat("loss_at_", length)] = cells.back()["loss"];
    if (!entropies.empty()) {
      result.metrics[concat("loss_excess_at_", length)] = cells.back()["excess"];
    }
  }
  return result;
}

}  // namespace difflab
