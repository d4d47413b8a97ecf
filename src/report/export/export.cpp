#include "report/export/export.h"

#include <map>

#include "record/provenance.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/export/tensorboard.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 180;  // bytes; file systems hold 255
// TensorBoard reads every file whose name contains "tfevents". With a name of its own for each
// export it would add up those it has seen.
constexpr const char* kEventFile = "events.out.tfevents.0000000000.difflab";
constexpr const char* kTemporary = "difflab-export";

std::string safe_name(const std::string& label) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,=@";
  std::string name = label;
  for (auto& byte : name) {
    if (byte == ' ') byte = ',';
    if (kPlain.find(byte) == kPlain.npos) byte = '_';
  }
  // Neither hidden nor "..".
  if (name.starts_with('.')) name.front() = '_';
  return name.substr(0, kLongestName);
}

// When the run's first session began, in seconds since 1970; 0 if nothing says so.
double start_of(const RunDirectory& run) {
  auto provenance = read_provenance(run);
  if (!provenance) return 0;
  const auto sessions = provenance->find("earlier_sessions");
  const bool continued =
      sessions != provenance->end() && sessions->is_array() && !sessions->empty();
  const Json& first = continued ? sessions->front() : *provenance;
  return static_cast<double>(recorded_time(first, "started").value_or(0));
}

}  // namespace

std::string metrics_csv(const std::vector<ExportedRun>& runs) {
  std::vector<std::string> keys;
  for (const auto& run : runs) {
    for (const auto& [key, value] : run.axes) add_new(keys, key);
  }
  std::vector<std::string> head{"run"};
  head.insert(head.end(), keys.begin(), keys.end());
  head.insert(head.end(), {"step", "metric", "value"});
  std::string text = csv_line(head);
  for (const auto& run : runs) {
    std::vector<std::string> cells{run.id};
    for (const auto& key : keys) cells.push_back(value_of_axis(run.axes, key));
    for (const auto& line : read_metrics(run.directory)) {
      for (const auto& [metric, value] : line.items()) {
        if (metric == "step") continue;
        auto row = cells;
        row.insert(row.end(), {told_at(line, "step"), metric, told_at(line, metric.c_str())});
        text += csv_line(row);
      }
    }
  }
  return text;
}

std::vector<std::string> folder_names(const std::vector<ExportedRun>& runs) {
  std::map<std::string, int> counts;
  for (const auto& run : runs) ++counts[safe_name(run.label)];
  std::vector<std::string> names;
  for (const auto& run : runs) {
    const auto name = safe_name(run.label);
    names.push_back(counts[name] > 1 || name.empty() ? concat(name, ",", run.id) : name);
  }
  return names;
}

void export_tensorboard(const std::vector<ExportedRun>& runs, const fs::path& folder) {
  const auto names = folder_names(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto lines = read_metrics(runs[i].directory);
    if (lines.empty()) continue;
    const auto place = folder / names[i];
    make_directories(place);
    remove_abandoned_temporaries(place);
    // Under a name that TensorBoard passes over until the file is whole.
    write_file_atomically(place / kTemporary, event_file(lines, start_of(runs[i].directory)));
    std::error_code error;
    fs::rename(place / kTemporary, place / kEventFile, error);
    if (error) {
      throw UserError(
          concat("cannot replace ", (place / kEventFile).string(), ": ", error.message()));
    }
  }
}

}  // namespace difflab::report
