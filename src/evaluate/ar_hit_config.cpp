#include "evaluate/ar_hit.h"

namespace difflab {

void ArHitConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  if (!std::holds_alternative<TextConfig>(task)) {
    check.problem("kind", "is ar_hit; expected a task of kind text");
  }
}

}  // namespace difflab
