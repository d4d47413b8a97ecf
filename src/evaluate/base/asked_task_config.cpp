#include "config/schema/reader.h"
#include "config/schema/writer.h"
#include "evaluate/base/asked_task.h"

namespace difflab {

AskedTask AskedTask::read_tree(const config::Value& value, const std::string& path,
                               config::Problems& problems) {
  return {config::read<std::optional<TaskConfig>>(value, path, problems)};
}

config::Value AskedTask::to_value() const {
  return config ? config::write(*config) : config::Value();
}

}  // namespace difflab
