#include "task/base/task.h"
#include "task/task_config.h"

namespace difflab {

std::unique_ptr<Task> build_task(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return kind.build(); }, config);
}

}  // namespace difflab
