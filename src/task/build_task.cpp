#include <numeric>

#include "task/base/task.h"
#include "task/task_config.h"

namespace difflab {

std::optional<double> Task::entropy() const {
  const auto entropies = token_entropies();
  if (entropies.empty()) return std::nullopt;
  return std::accumulate(entropies.begin(), entropies.end(), 0.0) /
         static_cast<double>(entropies.size());
}

std::unique_ptr<Task> build_task(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return kind.build(); }, config);
}

std::unique_ptr<Task> build_next_token_task(const TaskConfig& config, std::int64_t length) {
  return std::visit(
      [&]<class Kind>(const Kind& kind) -> std::unique_ptr<Task> {
        if constexpr (Kind::kEveryToken) return with_length(kind, length).build();
        return nullptr;
      },
      config);
}

}  // namespace difflab
