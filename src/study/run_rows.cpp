#include "study/run_rows.h"

#include <algorithm>

#include "config/value/value.h"
#include "config/value/yaml.h"
#include "record/status.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

void flatten(const Json& value, const std::string& name, RunRow& row) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) flatten(child, concat(name, ".", key), row);
  } else {
    row[name] = value;
  }
}

}  // namespace

RunRow read_run(const RunDirectory& run) {
  RunRow row{{"id", run.path.filename().string()}, {"directory", run.path.string()}};
  for (const char* key : {"step", "steps", "message", "commit", "host", "started", "finished"}) {
    row[key] = nullptr;
  }
  const auto standing = standing_of(run);
  row["state"] = name_of(standing.state);
  if (!standing.message.empty()) row["message"] = standing.message;
  if (standing.result) {
    flatten(standing.result->value("metrics", Json::object()), "metrics", row);
  }
  if (const auto position = position_of(run); position.all() > 0) {
    row["step"] = position.done();
    row["steps"] = position.all();
  }
  const auto provenance = read_provenance(run).value_or(Json::object());
  for (const char* key : {"commit", "host", "started", "finished", "trained_in"}) {
    if (provenance.contains(key)) row[key] = provenance.at(key);
  }
  try {
    flatten(config::to_json(config::load_yaml(run.config())), "config", row);
  } catch (const UserError&) {  // a run folder without its configuration still has a state
  }
  return row;
}

std::vector<RunRow> read_runs(const fs::path& results) {
  std::vector<fs::path> folders;
  std::error_code none;  // no folder: no runs
  for (const auto& entry : fs::directory_iterator(results / "runs", none)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<RunRow> rows;
  for (const auto& folder : folders) rows.push_back(read_run({folder}));
  return rows;
}

}  // namespace difflab::cli
