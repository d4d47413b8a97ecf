#include "evaluate/retrieval/text_needle_grid.h"

#include <ATen/ATen.h>

#include "evaluate/base/answerer.h"
#include "evaluate/retrieval/grid_cells.h"
#include "model/language_model.h"
#include "task/base/task.h"

namespace difflab {
namespace {

/// Whether each number was written right, [samples, R].
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

EvaluationResult TextNeedleGridConfig::run(const EvaluationContext& context) const {
  return ask(answerer(context.model, context.lanes),
             std::get<TextNeedleConfig>(context.task_config), context.seed);
}

EvaluationResult TextNeedleGridConfig::ask(const Answerer& answerer, const TextNeedleConfig& task,
                                           std::uint64_t seed) const {
  EvaluationResult result;
  Json cells = Json::array();
  double sum = 0;
  auto needles = task;
  needles.recall_share = 0;
  for (const auto& cell : cells_of(grid, needles)) {
    const auto batch = cell.build()->batch(seed, Split::kTest, 0, grid.samples);
    const auto right = written_right(answerer, cell, batch);
    const auto& json = cells.emplace_back(
        cell_json(cell, grid.samples, right.sum().item<std::int64_t>(),
                  right.all(1).sum().item<std::int64_t>(), 1 / static_cast<double>(cell.needles)));
    sum += json["accuracy"].get<double>();
  }
  result.metrics["text_grid_accuracy"] = sum / static_cast<double>(cells.size());
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
