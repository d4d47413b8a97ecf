#include "evaluate/needle_grid.h"

#include <ATen/ATen.h>

#include "evaluate/grid_cells.h"
#include "evaluate/score_batches.h"
#include "model/language_model.h"

namespace difflab {

EvaluationResult NeedleGridConfig::run(const EvaluationContext& context) const {
  EvaluationResult result;
  Json cells = Json::array();
  double sum = 0;
  for (const auto& cell : cells_of(*this, *needles_of(context.task_config))) {
    const auto score =
        score_batches(context.model, *cell.build(), context.seed, Split::kTest, samples);
    cells.push_back(cell_json(cell, samples, score.correct, score.all_correct));
    sum += score.accuracy();
  }
  result.metrics["grid_accuracy"] = sum / static_cast<double>(cells.size());
  result.details["cells"] = std::move(cells);
  return result;
}

}  // namespace difflab
