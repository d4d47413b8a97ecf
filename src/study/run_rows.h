#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab::study {

/// Digits of a run's id that tables show, of its 16; every command takes a beginning.
inline constexpr std::size_t kShownId = 8;

/// Beginnings of the keys of a run's configuration and of its metrics in a row.
inline constexpr std::string_view kOfConfig = "config.", kOfMetrics = "metrics.";

/// Content of one run's files, flat: "id", "state", "step", "steps", "message", "directory",
/// "commit", "host", "started", "finished", "trained_in" (the run that trained the model of one
/// that was only asked), every key of the configuration by its dotted name
/// ("config.model.attention.kind"), every figure of the result as "metrics.NAME", and the bound
/// that a missing one is known to exceed as "bounds.NAME".
using RunRow = std::map<std::string, Json>;

/// How lists of maps or lists appear in a row: under one key, or each item under KEY[i].
enum class Lists { kWhole, kSpread };

RunRow read_run(const RunDirectory& run, Lists lists = Lists::kWhole);

/// Every run in RESULTS/runs, by id.
std::vector<RunRow> read_runs(const std::filesystem::path& results);

/// The value of a key as users write it, which may leave "config." and "metrics." out; null pointer
/// if the run lacks it.
const Json* find_key(const RunRow& row, const std::string& key);

/// A text without quotes, "" for null, anything else as JSON.
std::string cell_text(const Json& value);

/// The same of what a row has under that very name; "" if it lacks it.
std::string cell_of(const RunRow& row, const std::string& name);

/// Numbers by their size, everything else by its text; what is not there comes last.
bool less(const Json* a, const Json* b);

/// KEY=VALUE, or != < <= > >= in place of =, with or without blanks around it. A number is read as
/// an override reads it, and compared by its size; a VALUE in quotes is text.
class RunFilter {
 public:
  /// @throws UserError if it is no comparison.
  explicit RunFilter(const std::string& text);

  const std::string& key() const { return key_; }
  /// @throws UserError if the key has numbers and is compared by size with what is none.
  void require_comparable(const std::vector<RunRow>& rows) const;
  bool accepts(const RunRow& row) const;

 private:
  bool is_order() const { return comparison_[0] == '<' || comparison_[0] == '>'; }

  std::string text_, key_, comparison_, word_;
  Json number_;  ///< null if the value is none
};

}  // namespace difflab::study
