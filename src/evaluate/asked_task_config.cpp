#include "config/reader.h"
#include "config/writer.h"
#include "evaluate/asked_task.h"

namespace difflab {

std::optional<AskedTask> AskedTask::from_value(const config::Value& value) {
  if (value.is_null()) return AskedTask{};
  if (!value.is_map() && !value.is_string()) return std::nullopt;
  return AskedTask{config::read<TaskConfig>(value, "the evaluation's task")};
}

config::Value AskedTask::to_value() const {
  return config ? config::write(*config) : config::Value();
}

}  // namespace difflab
