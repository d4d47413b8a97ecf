#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab::cli {

/// Digits of a run's id that tables show, of its 16; every command takes a beginning.
inline constexpr std::size_t kShownId = 8;

/// What the files of one run say, flat: "id", "state", "step", "steps", "message", "directory",
/// "commit", "host", "started", "finished", "trained_in" (the run that trained the model of one
/// that was only asked), every key of the configuration by its dotted name
/// ("model.attention.kind") and every figure of the result as "metrics.NAME".
using RunRow = std::map<std::string, Json>;

RunRow read_run(const RunDirectory& run);

/// Every run in RESULTS/runs, by id. A result that cannot be read is a row of state "damaged".
std::vector<RunRow> read_runs(const std::filesystem::path& results);

/// Brings RESULTS/index.sqlite up to date and gives its path. The index is a cache: it is written
/// anew whenever a run has changed, or when it is not, byte for byte, what was written.
///   runs(id, state, step, steps, message, directory, commit_id, host, started, finished)
///   config(run, key, value)    metrics(run, name, value)
/// @throws UserError if it cannot be written.
std::filesystem::path update_index(const std::filesystem::path& results);

/// What a SELECT on the index answers: names of the columns, then rows. Nothing else than reading
/// is possible. @throws UserError with SQLite's words and the tables there are.
struct QueryAnswer {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows;
};
QueryAnswer query_index(const std::filesystem::path& index, const std::string& sql);

}  // namespace difflab::cli
