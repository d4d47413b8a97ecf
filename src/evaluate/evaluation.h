#pragma once

#include <cstdint>

#include "task/task_config.h"
#include "util/json.h"

namespace difflab {

class LanguageModel;
class Task;

/// What an evaluation looks at.
struct EvaluationContext {
  LanguageModel& model;
  const TaskConfig& task_config;
  const Task& task;
  std::uint64_t seed;
};

/// What an evaluation found.
struct EvaluationResult {
  Json metrics = Json::object();  ///< single numbers, for tables
  Json details = Json::object();  ///< everything, for figures
};

}  // namespace difflab
