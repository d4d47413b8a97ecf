#include <algorithm>

#include "evaluate/retrieval/in_context_shots.h"

namespace difflab {

void InContextShotsConfig::validate_task(const TaskConfig& task, config::Check& check) const {
  const auto* in_context = task_as<InContextConfig>(task);
  if (in_context == nullptr) {
    check.problem("kind", "is in_context_shots; expected a task of kind in_context");
    return;
  }
  for (const auto K : shots) {
    if (K < in_context->classes) {
      check.problem("shots", concat("has ", K, "; expected at least the task's classes, ",
                                    in_context->classes, ", so that every class is shown"));
    }
  }
}

std::int64_t InContextShotsConfig::longest(const TaskConfig& task) const {
  const auto* in_context = task_as<InContextConfig>(task);
  if (in_context == nullptr || shots.empty()) return 0;
  auto longest = *in_context;
  longest.shots = *std::max_element(shots.begin(), shots.end());
  return longest.sequence_length();
}

}  // namespace difflab
