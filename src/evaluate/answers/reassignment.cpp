#include "evaluate/answers/reassignment.h"

#include <ATen/ATen.h>

#include <map>
#include <vector>

#include "evaluate/base/answerer.h"
#include "model/language_model.h"
#include "statistics/share.h"
#include "task/base/task.h"

namespace difflab {
namespace {

struct KeyAnswers {
  std::int64_t n = 0, current = 0, stale = 0;

  Json cell(const char* keys, double chance) const {
    const auto interval = wilson_interval(current, n);
    const auto share = [&](std::int64_t count) {
      return static_cast<double>(count) / static_cast<double>(n);
    };
    return {{"keys", keys},
            {"n", n},
            {"correct", current},
            {"accuracy", share(current)},
            {"accuracy_low", interval->low},
            {"accuracy_high", interval->high},
            {"stale", share(stale)},
            {"other", share(n - current - stale)},
            {"chance", chance}};
  }
};

}  // namespace

EvaluationResult ReassignmentConfig::run(const EvaluationContext& context) const {
  const at::NoGradGuard no_grad;
  return ask(answerer(context.model, context.lanes), std::get<MqarConfig>(context.task_config),
             context.seed);
}

EvaluationResult ReassignmentConfig::ask(const Answerer& answerer, const MqarConfig& task,
                                         std::uint64_t seed) const {
  auto config = with_length(task, task.length);
  config.recall_share = 0;
  const auto built = config.build();
  const auto batch = built->batch(seed, Split::kTest, 0, samples);
  const auto answers = answerer.answer(batch).contiguous();
  KeyAnswers reassigned, kept;
  for (std::int64_t row = 0; row < samples; ++row) {
    const auto* tokens = batch.inputs[row].const_data_ptr<std::int64_t>();
    const auto* targets = batch.targets[row].const_data_ptr<std::int64_t>();
    const auto* said = answers[row].const_data_ptr<std::int64_t>();
    std::map<std::int64_t, std::vector<std::int64_t>> values_of;  // in the order shown
    for (std::int64_t t = 0; t < 2 * task.shown(); t += 2) {
      values_of[tokens[t]].push_back(tokens[t + 1]);
    }
    for (std::int64_t t = 2 * task.shown(); t < config.length; ++t) {
      if (targets[t] == kIgnore) continue;
      const auto& values = values_of.at(tokens[t]);
      auto& count = values.size() > 1 ? reassigned : kept;
      ++count.n;
      count.current += said[t] == targets[t] ? 1 : 0;
      count.stale += values.size() > 1 && said[t] == values.front() ? 1 : 0;
    }
  }
  EvaluationResult result;
  const double chance = built->chance_accuracy();
  Json cells = Json::array({reassigned.cell("reassigned", chance)});
  result.metrics["current_share"] = cells[0]["accuracy"];
  result.metrics["current_share_chance"] = chance;
  result.metrics["stale_share"] = cells[0]["stale"];
  result.metrics["other_share"] = cells[0]["other"];
  result.metrics["kept_accuracy"] = Json();
  result.metrics["kept_accuracy_chance"] = chance;
  if (kept.n > 0) {
    cells.push_back(kept.cell("kept", chance));
    result.metrics["kept_accuracy"] = cells[1]["accuracy"];
  }
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
