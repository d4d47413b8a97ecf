#include "config/writer.h"
#include "experiment/identity.h"
#include "experiment/run_config.h"
#include "record/run_directory.h"
#include "util/hash.h"

namespace difflab {
namespace {

// An input file is its content, wherever it lies.
void forget_place(config::Value* file) {
  if (file != nullptr) file->erase("path");
}

}  // namespace

std::string run_id(const RunConfig& config) {
  config::Value value = config::write(config);
  for (const auto& [group, key] : kKeysWithoutEffect) value.find(group)->erase(key);
  for (const auto& [key, before] : kLaterKeys) {
    if (config::canonical_json(*value.find(key)) == before) value.erase(key);
  }
  forget_place(value.find("init_from"));
  forget_place(value.find("task")->find("file"));
  const std::string canonical =
      concat("difflab run ", kResultSchema, "\n", config::canonical_json(value));
  return sha256_hex(canonical).substr(0, 16);
}

}  // namespace difflab
