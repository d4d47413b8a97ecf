#include "evaluate/retrieval/needle_grid.h"

#include <map>

#include "evaluate/base/answerer.h"
#include "evaluate/base/score_batches.h"
#include "evaluate/retrieval/grid_cells.h"

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

/// True where a number was written right, [samples, R].
at::Tensor written_right(const Answerer& answerer, const TextNeedleConfig& cell,
                         const Batch& batch) {
  auto text = batch.inputs.narrow(1, 0, cell.answer_begin(0));  // [B, tokens so far]
  std::vector<at::Tensor> right;
  for (std::int64_t r = 0; r < cell.queries; ++r) {
    const auto begin = cell.answer_begin(r);
    const auto given = text.size(1);  // the separator comes from the task, digits from the model
    text = at::cat({text, batch.inputs.slice(1, given, begin)}, 1);
    const auto number = answerer.go_on(text, cell.digits);
    right.push_back(number.eq(batch.targets.narrow(1, begin - 1, cell.digits)).all(1));
    text = at::cat({text, number}, 1);
  }
  return at::stack(right, 1);
}

}  // namespace

EvaluationResult NeedleGridConfig::ask(const Answerer& answerer, const TextNeedleConfig& task,
                                       std::uint64_t seed) const {
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  double sum = 0;
  auto needles_alone = task;
  needles_alone.recall_share = 0;
  for (const auto& cell : cells_of(*this, needles_alone)) {
    const auto batch = cell.build()->batch(seed, Split::kTest, 0, samples);
    const auto right = written_right(answerer, cell, batch);
    const auto& json = cells.emplace_back(cell_json(cell, samples, right.sum().item<std::int64_t>(),
                                                    right.all(1).sum().item<std::int64_t>(),
                                                    1 / static_cast<double>(cell.needles)));
    sum += json["accuracy"].get<double>();
  }
  result.metrics["text_grid_accuracy"] = sum / static_cast<double>(cells.size());
  return result;
}

EvaluationResult NeedleGridConfig::run(const EvaluationContext& context) const {
  if (const auto* in_text = task_as<TextNeedleConfig>(context.task_config)) {
    return ask(answerer(context.model, context.lanes), *in_text, context.seed);
  }
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  double sum = 0;
  for (const auto& cell : cells_of(*this, *needles_of(context.task_config))) {
    const auto score = score_batches(context, *cell.build(), samples);
    cells.push_back(cell_json(cell, samples, score.correct, score.all_correct, cell.chance()));
    sum += score.accuracy();
  }
  result.metrics["grid_accuracy"] = sum / static_cast<double>(cells.size());
  add_margins(cells, result.metrics);
  return result;
}

}  // namespace difflab
