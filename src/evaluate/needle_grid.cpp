#include "evaluate/needle_grid.h"

#include <ATen/ATen.h>

#include <map>
#include <string>

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

/// Means of some cells.
struct Margin {
  double accuracy = 0, all_correct = 0, chance = 0;
  int cells = 0;

  void add(const Json& cell) {
    accuracy += cell["accuracy"].get<double>();
    all_correct += cell["all_correct"].get<double>();
    chance += cell["chance"].get<double>();
    ++cells;
  }
};

void add_margins(const Json& cells, Json& metrics) {
  std::map<std::string, Margin> by_number, by_length;
  for (const auto& cell : cells) {
    const auto number = [&](const char* key) { return cell[key].get<std::int64_t>(); };
    by_number[concat("n", number("needles"), "_r", number("queries"))].add(cell);
    by_length[concat("t", number("length"))].add(cell);
  }
  const auto add = [&](const std::string& name, double sum, const Margin& margin) {
    metrics[name] = sum / margin.cells;
  };
  for (const auto& margins : {by_number, by_length}) {
    for (const auto& [name, margin] : margins) {
      add("accuracy_" + name, margin.accuracy, margin);
      add("accuracy_" + name + "_chance", margin.chance, margin);
    }
  }
  for (const auto& [name, margin] : by_number) {
    add("all_correct_" + name, margin.all_correct, margin);
  }
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
  add_margins(cells, result.metrics);
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
