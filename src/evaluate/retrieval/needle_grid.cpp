#include "evaluate/retrieval/needle_grid.h"

#include <ATen/ATen.h>

#include <map>
#include <string>

#include "evaluate/base/score_batches.h"
#include "evaluate/retrieval/grid_cells.h"
#include "model/language_model.h"

namespace difflab {
namespace {

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
  EvaluationResult result;
  Json cells = Json::array();
  double sum = 0;
  for (const auto& cell : cells_of(*this, *needles_of(context.task_config))) {
    const auto score = score_batches(context.model, *cell.build(), context.seed, Split::kTest,
                                     samples, context.lanes);
    cells.push_back(cell_json(cell, samples, score.correct, score.all_correct, cell.chance()));
    sum += score.accuracy();
  }
  result.metrics["grid_accuracy"] = sum / static_cast<double>(cells.size());
  add_margins(cells, result.metrics);
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
