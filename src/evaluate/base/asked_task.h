#pragma once

#include <optional>
#include <string>

#include "config/value/problems.h"
#include "config/value/value.h"
#include "task/task_config.h"

namespace difflab {

/// The task that a model is asked on, if that is another one than it was trained on: with the same
/// vocabulary, else anything.
struct AskedTask {
  std::optional<TaskConfig> config;

  /// null, or a task as under the key `task`.
  static AskedTask read_tree(const config::Value& value, const std::string& path,
                             config::Problems& problems);
  config::Value to_value() const;
  static std::string expected() { return "null or a task"; }
};

}  // namespace difflab
