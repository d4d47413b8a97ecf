#pragma once

#include "evaluate/base/evaluation.h"
#include "support/catch.h"
#include "task/base/task.h"

namespace difflab::testing {

/// What an evaluation finds in a model.
inline EvaluationResult evaluate(const auto& config, LanguageModel& model,
                                 const TaskConfig& task_config, std::uint64_t seed = 3) {
  return config.run({model, task_config, *build_task(task_config), seed});
}

/// The cells that have these values.
inline std::vector<Json> cells_with(const EvaluationResult& result, const Json& values) {
  std::vector<Json> found;
  for (const auto& cell : result.details["cells"]) {
    bool same = true;
    for (const auto& [key, value] : values.items()) same = same && cell.value(key, Json()) == value;
    if (same) found.push_back(cell);
  }
  return found;
}

/// What the only cell with these values has under `key`.
inline double only(const EvaluationResult& result, const Json& values, const char* key) {
  const auto found = cells_with(result, values);
  CATCH_REQUIRE(found.size() == 1);
  return found[0][key].get<double>();
}

}  // namespace difflab::testing
