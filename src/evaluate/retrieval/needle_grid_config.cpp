#include "evaluate/retrieval/grid_cells.h"
#include "evaluate/retrieval/needle_grid.h"

namespace difflab {
void NeedleGridConfig::validate(config::Check& check) const {
  if (needles.empty()) check.problem("needles", "is empty; expected at least one number");
  if (queries.empty()) check.problem("queries", "is empty; expected at least one number");
  if (depths.empty()) check.problem("depths", "is empty; expected at least one depth");
  const auto most = largest_of(needles);
  for (const auto R : queries) {
    if (needles.empty() || R <= most) continue;
    check.problem("queries", concat("asks for ", R, " needles; expected at most needles, ", most));
  }
}

void NeedleGridConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  if (const NeedleConfig* base = needles_of(task)) {
    check_cells(*this, *base, check);
  } else if (const auto* in_text = task_as<TextNeedleConfig>(task)) {
    check_cells(*this, *in_text, check);
  } else {
    check.problem(
        "kind",
        "is needle_grid; expected a task with needles (needle, needle_recall, text_needle)");
  }
}

}  // namespace difflab
