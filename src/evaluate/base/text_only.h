#pragma once

#include <string_view>

#include "config/schema/fields.h"
#include "task/task_config.h"
#include "util/text.h"

namespace difflab {

/// What an evaluation of running text says to any other task; `kind` is the evaluation's.
inline void require_text(const TaskConfig& task, std::string_view kind, config::Check& check) {
  if (task_as<TextConfig>(task) == nullptr) {
    check.problem("kind", concat("is ", kind, "; expected a task of kind text"));
  }
}

}  // namespace difflab
