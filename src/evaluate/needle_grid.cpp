#include "evaluate/needle_grid.h"

#include <ATen/ATen.h>

#include "evaluate/score_batches.h"
#include "model/language_model.h"
#include "util/statistics.h"

namespace difflab {
namespace {

Json run_cell(const EvaluationContext& context, const NeedleConfig& cell, std::int64_t samples) {
  const auto result =
      score_batches(context.model, *cell.build(), context.seed, Split::kTest, samples);
  const auto interval = wilson_interval(result.correct, result.targets);
  return {{"needles", cell.needles},
          {"queries", cell.queries},
          {"length", cell.length},
          {"depth", *cell.depth},
          {"samples", samples},
          {"n", result.targets},
          {"correct", result.correct},
          {"accuracy", result.accuracy()},
          {"accuracy_low", interval->low},
          {"accuracy_high", interval->high},
          {"all_correct",
           static_cast<double>(result.all_correct) / static_cast<double>(result.sequences)},
          {"chance", 1 / static_cast<double>(cell.needles)}};
}

}  // namespace

EvaluationResult NeedleGridConfig::run(const EvaluationContext& context) const {
  const NeedleConfig base = *needles_of(context.task_config);
  EvaluationResult result;
  Json cells = Json::array();
  double sum = 0;
  for (const auto N : needles) {
    for (const auto R : queries) {
      if (R > N) continue;
      for (const auto T : lengths.empty() ? std::vector{base.length} : lengths) {
        for (const auto depth : depths) {
          NeedleConfig cell = base;
          cell.needles = N;
          cell.queries = R;
          cell.length = T;
          cell.depth = depth;
          cells.push_back(run_cell(context, cell, samples));
          sum += cells.back()["accuracy"].get<double>();
        }
      }
    }
  }
  result.metrics["grid_accuracy"] = sum / static_cast<double>(cells.size());
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
