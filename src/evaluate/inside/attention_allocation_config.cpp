#include "evaluate/inside/attention_allocation.h"

namespace difflab {

void AttentionAllocationConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  if (needles_of(task) == nullptr) {
    check.problem("kind",
                  "is attention_allocation; expected a task with needles (needle, needle_recall)");
  }
}

}  // namespace difflab
