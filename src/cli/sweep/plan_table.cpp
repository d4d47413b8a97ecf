#include "cli/sweep/plan_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/value/yaml.h"
#include "run/trained_runs.h"
#include "study/expected_time.h"
#include "study/fairness.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

using TableRow = std::vector<std::string>;

// Columns as wide as their widest cell, two blanks between them, none at the end.
std::string aligned(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i] + "\n";
    }
  }
  return text;
}

std::string state_text(const sweep::Run& run) {
  return std::string(name_of(state_of(run.directory)));
}

// Core-hours of the trainings that are missing, as a text, and when they would be done. Of a study
// that is being tuned all runs count: with the value that is found each of them is another run.
std::string cost_text(const Study& study, const char* bound) {
  auto runs = sweep::distinct(study.points);
  if (!study.is_being_tuned()) {
    std::set<std::string> trainings;
    std::erase_if(runs, [&](const sweep::Run& run) {
      return is_complete(state_of(run.directory)) ||
             (!run.training.empty() && !trainings.insert(run.training).second) ||
             !runs_with_training(study.results, run.training, /*without=*/"").empty();
    });
  }
  if (runs.empty()) return "";
  count_operations(runs);
  double operations = 0;
  for (const auto& run : runs) operations += run.operations;
  constexpr double kRate = 5e10;  // of a core, where nothing is known: half of a large product's
  auto text = fmt::format("{} {:.1f} core-hours at 50 GFLOP/s", bound, operations / kRate / 3600);
  if (const auto* local = std::get_if<sweep::LocalLauncher>(&study.config.launcher)) {
    const int workers = local->workers.resolve(study.threads_per_run);
    const auto when = expected_end(study, runs, std::min(workers, static_cast<int>(runs.size())));
    text += "; when done: " + when;
  }
  return text;
}

std::string table_of(const Study& study) {
  std::vector<TableRow> rows(1, {"run"});
  if (!study.points.empty()) {
    for (const auto& [axis, value] : study.points.front().axes) rows[0].push_back(axis);
  }
  rows[0].emplace_back("state");
  for (const auto& point : study.points) {
    TableRow row{point.id};
    for (const auto& [axis, value] : point.axes) row.push_back(value);
    row.push_back(state_text(point));
    rows.push_back(std::move(row));
  }
  const auto runs = sweep::distinct(study.points);
  std::map<std::string, int> counts;
  for (const auto& run : runs) ++counts[state_text(run)];
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) parts.push_back(concat(count, " ", state));
  std::string text = fmt::format("experiment {} (preset {}), output {}\n\n", study.name,
                                 study.preset, config::shown_path(study.output));
  text += aligned(rows);
  text += fmt::format("\n{} runs: {}\n", runs.size(), join(parts));
  if (runs.size() < study.points.size()) {
    text += fmt::format("{} points share a run with another of the same configuration\n",
                        study.points.size() - runs.size());
  }
  if (const auto few = too_few_seeds(study); !few.empty()) text += "warning: " + few + "\n";
  return text;
}

std::string notes_of(const Study& study) {
  std::string text;
  for (const auto& note : study.notes) text += concat("note: ", note, "\n");
  return text;
}

constexpr const char* kNothingWritten = "dry run: nothing was run or written\n";

}  // namespace

std::string plan_table(const Study& study) {
  if (study.is_being_tuned()) {
    std::set<std::string> seeds;
    for (const auto& run : study.tuning->points) seeds.insert(run.axes.back().second);
    const auto few = too_few_seeds(study);
    const bool has_all = static_cast<std::int64_t>(seeds.size()) == study.config.tune.seeds;
    return concat(
        table_of(*study.tuning), "then ",
        has_all ? "" : "the other seeds of values that may be the best, then ",
        sweep::distinct(study.points).size(), " runs with the ", study.config.tune.key,
        " that these find for each variant",
        study.config.tune.grow ? "; before them more values if the best lies at an edge of the grid"
                               : "",
        study.config.tune.longer > 0 ? "; before them longer runs where no value works" : "",
        "\ntraining: the tuning runs above ", cost_text(*study.tuning, "about"),
        "\ntraining: the runs then ", cost_text(study, "at most"), "\n",
        few.empty() ? "" : concat("warning: ", few, "\n"), notes_of(study), kNothingWritten);
  }
  const auto cost = cost_text(study, "at most");
  return concat(table_of(study), cost.empty() ? "" : concat("training: ", cost, "\n"),
                notes_of(study), kNothingWritten);
}

std::string plan_json(const Study& study) {
  if (study.is_being_tuned()) return plan_json(*study.tuning);
  Json list = Json::array();
  for (const auto& point : study.points) {
    Json axes = Json::object();
    for (const auto& [axis, value] : point.axes) axes[axis] = value;
    list.push_back({{"id", point.id},
                    {"axes", axes},
                    {"state", state_text(point)},
                    {"directory", point.directory.path.string()}});
  }
  return list.dump(1) + "\n";
}

}  // namespace difflab::cli
