#include "evaluate/answers/hallucination.h"

namespace difflab {

std::int64_t HallucinationConfig::longest(const TaskConfig& task) const {
  const auto* base = task_as<ContextQaConfig>(task);
  if (base == nullptr) return 0;
  std::int64_t longest = 0;
  for (const double share : distractors) {
    auto config = *base;
    config.distractors = share;
    longest = std::max(longest, config.sequence_length());
  }
  return longest;
}

}  // namespace difflab
