#include "evaluate/loss_by_position.h"

namespace difflab {

void LossByPositionConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  if (!std::holds_alternative<TextConfig>(task)) {
    check.problem("kind", "is loss_by_position; expected a task of kind text");
  }
}

}  // namespace difflab
