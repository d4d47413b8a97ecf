#pragma once

#include <memory>
#include <variant>

#include "task/needle.h"
#include "task/needle_recall.h"
#include "task/recall.h"

namespace difflab {

class Task;

/// Every task a model can be trained on; `kind` in the YAML picks one.
/// To add one: write NAME.{h,cpp}, include it above, name it here.
using TaskConfig = std::variant<NeedleRecallConfig, NeedleConfig, RecallConfig>;

std::unique_ptr<Task> build_task(const TaskConfig& config);

/// The needles in a task, or null if it has none.
inline const NeedleConfig* needles_of(const TaskConfig& config) {
  if (const auto* mixed = std::get_if<NeedleRecallConfig>(&config)) return &mixed->needle;
  return std::get_if<NeedleConfig>(&config);
}

}  // namespace difflab
