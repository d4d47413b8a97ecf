#include "evaluate/retrieval/grid_cells.h"
#include "evaluate/retrieval/text_needle_grid.h"

namespace difflab {

void TextNeedleGridConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  const auto* base = task_as<TextNeedleConfig>(task);
  if (base == nullptr) {
    check.problem("kind", "is text_needle_grid; expected a task of kind text_needle");
    return;
  }
  check_cells(grid, *base, check);
}

}  // namespace difflab
