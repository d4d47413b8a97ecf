#include "evaluate/answers/hops.h"

#include <ATen/ATen.h>

#include "evaluate/base/answerer.h"
#include "model/language_model.h"
#include "statistics/share.h"
#include "task/base/task.h"
#include "util/text.h"

namespace difflab {

EvaluationResult HopsConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  return ask(answerer(context.model, context.lanes), std::get<KHopConfig>(context.task_config),
             context.seed);
}

EvaluationResult HopsConfig::ask(const Answerer& answerer, const KHopConfig& task,
                                 std::uint64_t seed) const {
  EvaluationResult result;
  Json cells = Json::array();
  double mean = 0;
  const auto numbers = asked(task);
  for (const auto k : numbers) {
    auto config = task;
    config.least_nodes = config.nodes;
    config.asked = k;
    config.recall_share = 0;
    const auto built = config.build();
    const auto batch = built->batch(seed, Split::kTest, 0, samples);
    // Of a sequence the first question alone: later ones may repeat it, with its answer in the
    // input.
    const auto asks = batch.targets != kIgnore;
    const auto where = asks.logical_and(asks.cumsum(1) == 1);
    const auto right = answerer.answer(batch).eq(batch.targets).logical_and(where);
    const auto n = where.sum().item<std::int64_t>(), correct = right.sum().item<std::int64_t>();
    const auto interval = wilson_interval(correct, n);
    const double accuracy = static_cast<double>(correct) / static_cast<double>(n);
    mean += accuracy / static_cast<double>(numbers.size());
    result.metrics[concat("hops_", k, "_accuracy")] = accuracy;
    cells.push_back({{"hops", k},
                     {"n", n},
                     {"correct", correct},
                     {"accuracy", accuracy},
                     {"accuracy_low", interval->low},
                     {"accuracy_high", interval->high},
                     {"chance", built->chance_accuracy()}});
  }
  result.metrics["hops_accuracy"] = mean;
  result.metrics["hops_accuracy_chance"] = 1 / static_cast<double>(task.nodes);
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
