// compare: in which keys runs, or groups of them, differ, and how well each did.
#include <unistd.h>

#include <cctype>
#include <map>
#include <set>

#include "cli/commands.h"
#include "config/value/yaml.h"
#include "report/settings/study.h"
#include "report/table/grid.h"
#include "report/table/table.h"
#include "study/run_rows.h"
#include "study/targets.h"
#include "util/terminal/terminal.h"

namespace difflab::cli {
namespace {

constexpr const char* kGroup = "group";
constexpr std::size_t kFewValues = 3;  // of a key in a group, which are listed
constexpr int kWidestValue = 32;       // in a terminal

struct CompareOptions {
  std::vector<std::string> words, metrics;
  std::string by;
  bool json = false;
};

/// Runs that are compared as one.
struct Group {
  std::string name;
  std::vector<const sweep::Run*> runs;
  std::vector<RunRow> rows;
};

bool is_finished(const RunRow& row) { return cell_of(row, "state") == "finished"; }

// Each run once, by the key; without one each word's runs, of a single word those of each model. A
// run that nobody has started has no row.
std::vector<Group> groups_of(const std::vector<Target>& targets, std::string by) {
  if (by.empty() && targets.size() == 1) by = "model.name";
  std::vector<Group> groups;
  std::set<std::string> seen;
  int absent = 0;
  for (const auto& target : targets) {
    const bool lone = targets.size() > 1 && target.runs.size() == 1;
    for (const auto& run : target.runs) {
      if (!seen.insert(run.directory.path.string()).second) continue;
      auto row = read_run(run.directory, Lists::kSpread);
      // A model that was only asked is in the folder as a run of its own, too.
      if (target.is_results && !cell_of(row, "trained_in").empty()) continue;
      if (!std::filesystem::exists(run.directory.config())) {
        ++absent;
        continue;
      }
      const auto* value = by.empty() ? nullptr : find_key(row, by);
      if (value == nullptr && !by.empty()) {
        throw UserError(concat("run ", run.id.substr(0, kShownId), " has no ", by,
                               "; expected a key of its configuration or one of its metrics"));
      }
      auto name = value ? cell_text(*value) : lone ? run.label() : target.name;
      auto group = std::ranges::find(groups, name, &Group::name);
      if (lone && by.empty() && group != groups.end()) {
        name += " " + run.directory.path.string();
        group = groups.end();
      }
      if (group == groups.end()) group = groups.insert(groups.end(), {name, {}, {}});
      group->runs.push_back(&run);
      group->rows.push_back(std::move(row));
    }
  }
  if (absent > 0) std::cerr << absent << " runs have not begun and are left out\n";
  return groups;
}

// Distinct values of a key in a group, of many their number.
std::string values_text(const Group& group, const std::string& key) {
  std::set<std::string> values;
  for (const auto& row : group.rows)
    values.insert(row.contains(key) ? cell_of(row, key) : "(no key)");
  if (values.size() > kFewValues) return concat(values.size(), " values");
  return join({values.begin(), values.end()});
}

/// A key in which groups differ, and its values in each.
struct Difference {
  std::string key;
  std::vector<std::string> values;
};

// Names and paths, which change no result, come last.
std::vector<Difference> differences(const std::vector<Group>& groups) {
  std::set<std::string> keys;
  for (const auto& group : groups) {
    for (const auto& row : group.rows) {
      for (const auto& [key, value] : row) {
        if (key.starts_with(kOfConfig)) keys.insert(key);
      }
    }
  }
  std::vector<Difference> found;
  for (const auto& key : keys) {
    std::set<std::string> distinct;
    Difference difference{key.substr(kOfConfig.size()), {}};
    for (const auto& group : groups) {
      std::set<std::string> values;
      for (const auto& row : group.rows) values.insert(cell_of(row, key));
      distinct.insert(join({values.begin(), values.end()}, "\n"));
      difference.values.push_back(values_text(group, key));
    }
    if (distinct.size() > 1) found.push_back(std::move(difference));
  }
  std::stable_partition(found.begin(), found.end(), [](const Difference& difference) {
    return !difference.key.ends_with("name") && !difference.key.ends_with("path");
  });
  return found;
}

report::Grid grid_of(const std::vector<Difference>& found, const std::vector<Group>& groups) {
  report::Grid grid{.columns = {{"key", true}}, .rows = {}, .rules = {}};
  for (const auto& group : groups) grid.columns.push_back({group.name, false});
  for (const auto& [key, values] : found) {
    auto& row = grid.rows.emplace_back(std::vector{key});
    for (const auto& value : values) row.push_back(fit_to_width(value, kWidestValue));
  }
  return grid;
}

// True of a metric of a cell, a layer or a length: accuracy_n4_r2, lambda.0, loss_at_512.
bool is_of_cell(const std::string& key) {
  for (std::size_t i = 1; i < key.size(); ++i) {
    const auto before = key.substr(0, i);
    const bool is_index = before.ends_with('.') || before.ends_with("_n") ||
                          before.ends_with("_t") || before.ends_with("_r") ||
                          before.ends_with("_at_");
    if (is_index && std::isdigit(static_cast<unsigned char>(key[i])) != 0) return true;
  }
  return false;
}

// Metrics that every finished run has, or a bound of them, and for which lower or higher is better,
// but those of cells.
std::vector<std::string> metrics_of(const std::vector<Group>& groups) {
  std::map<std::string, std::size_t> counts;
  std::size_t finished = 0;
  for (const auto& group : groups) {
    for (const auto& row : group.rows) {
      if (!is_finished(row)) continue;
      ++finished;
      for (const auto& [key, value] : row) {
        if (key.starts_with(kOfMetrics)) ++counts[key.substr(kOfMetrics.size())];
      }
    }
  }
  std::vector<std::string> metrics;
  for (const auto& [key, count] : counts) {
    const bool is_directed = report::metric_of(key).better != Better::kNeither;
    if (count == finished && is_directed && !is_of_cell(key)) metrics.push_back(key);
  }
  return metrics;
}

// Axes that vary within a group: pairs of runs agree in them.
std::vector<std::string> inner_axes(const std::vector<Group>& groups) {
  std::vector<std::string> axes;
  for (const auto& group : groups) {
    for (const auto* run : group.runs) {
      for (const auto& axis : run->axes) {
        const bool varies = std::ranges::any_of(group.runs, [&](const sweep::Run* other) {
          return report::value_of_axis(other->axes, axis.first) != axis.second;
        });
        if (varies && axis.first != report::kSeedAxis) report::add_new(axes, axis.first);
      }
    }
  }
  return axes;
}

// The runs as a study with the groups as its first axis, the first of them the baseline. Runs of
// one experiment are judged as its report judges them.
report::Study study_of(const std::vector<Group>& groups, const std::vector<Target>& targets,
                       const CompareOptions& options) {
  report::Study study;
  study.baseline = groups.front().name;
  if (targets.size() == 1 && targets.front().report) {
    const auto& report = *targets.front().report;
    study.report.learned = report.learned;
    study.report.times = report.times;
    study.report.labels = report.labels;
  }
  const auto axes = inner_axes(groups);
  std::set<Json> places;
  for (const auto& group : groups) {
    for (std::size_t i = 0; i < group.runs.size(); ++i) {
      const auto& run = *group.runs[i];
      auto& planned = study.runs.emplace_back(run);
      if (!run.config.is_object()) {
        planned.config = config::to_json(config::load_yaml(run.directory.config()));
      }
      planned.axes = {{kGroup, group.name}};
      for (const auto& axis : axes) {
        planned.axes.emplace_back(axis, report::value_of_axis(run.axes, axis));
      }
      planned.axes.emplace_back(report::kSeedAxis, cell_of(group.rows[i], "config.seed"));
      if (!places.insert(Json(planned.axes)).second) study.baseline.clear();
    }
  }
  if (study.baseline.empty()) {
    std::cerr << "several runs of a group have the same seed: their differences are not paired\n";
  }
  auto& table = study.report.tables.emplace_back();
  table.rows = {{kGroup}};
  table.columns = options.metrics.empty() ? metrics_of(groups) : options.metrics;
  return study;
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json to_json(const std::vector<Group>& groups, const std::vector<Difference>& found,
             const report::Table& table) {
  Json json{{"groups", Json::array()}, {"keys", Json::array()}};
  for (const auto& group : groups) {
    Json runs = Json::array();
    for (const auto* run : group.runs) runs.push_back(run->id);
    json["groups"].push_back({{"name", group.name}, {"runs", std::move(runs)}});
  }
  for (const auto& [key, values] : found)
    json["keys"].push_back({{"key", key}, {"values", values}});
  json["metrics"] = Json::array();
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const auto& cell = row.cells[i];
      json["metrics"].push_back({{"metric", table.columns[i].key},
                                 {"group", row.key.front()},
                                 {"mean", number(cell.mean)},
                                 {"median", number(cell.median)}});
      auto& one = json["metrics"].back();
      one["low"] = cell.interval ? Json(cell.interval->low) : Json();
      one["high"] = cell.interval ? Json(cell.interval->high) : Json();
      one["n"] = cell.n();
      one["bounds"] = cell.bounds;
    }
  }
  json["differences"] = Json::array();
  for (const auto& comparison : table.comparisons) {
    const auto& result = comparison.result;
    if (!result) continue;
    json["differences"].push_back({{"metric", table.columns[comparison.column].key},
                                   {"group", table.rows[comparison.row].key.front()},
                                   {"against", groups.front().name},
                                   {"difference", result->difference},
                                   {"pairs", result->pairs},
                                   {"p", comparison.p_holm}});
    auto& one = json["differences"].back();
    one["low"] = result->interval ? Json(result->interval->low) : Json();
    one["high"] = result->interval ? Json(result->interval->high) : Json();
  }
  return json;
}

void compare(const CompareOptions& options) {
  const auto targets = find_targets(options.words);
  const auto groups = groups_of(targets, options.by);
  if (groups.size() < 2) {
    throw UserError(concat("all runs are in one group", groups.empty() ? "" : ", ",
                           groups.empty() ? "" : groups.front().name,
                           "; expected two runs or experiments, or --by KEY with two values"));
  }
  const auto study = study_of(groups, targets, options);
  const auto frame = report::frame_of(study);
  const auto labels = report::labels_of(study, frame);
  const auto table = report::build_table(study.report.tables.front(), study, frame, labels);
  const auto found = differences(groups);
  if (options.json) {
    std::cout << to_json(groups, found, table).dump(1) << '\n';
    return;
  }
  const auto width = static_cast<std::size_t>(terminal_width(STDOUT_FILENO));
  if (found.empty()) std::cout << "the configurations are the same\n";
  if (!found.empty()) std::cout << report::to_terminal(grid_of(found, groups), width);
  if (table.columns.empty()) {
    std::cerr << "no metric is in every finished run; --metrics NAME,… shows chosen ones\n";
    return;
  }
  std::cout << '\n' << report::to_terminal(report::main_grid(table, labels), width);
  const auto paired = report::paired_grid(table, labels, report::Bootstrap::kLeftOut);
  if (!paired.rows.empty()) std::cout << '\n' << report::to_terminal(paired, width);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Show in which keys runs or experiments differ, and how well each did");
  command
      ->add_option("what", options->words,
                   "runs (id, its beginning or folder), experiments (KEY=VALUE as for sweep), "
                   "outputs of frozen sweeps, results folders")
      ->required();
  command->add_option("--by", options->by,
                      "key whose values make the groups; by default the words, of one word "
                      "model.name");
  command
      ->add_option(
          "--metrics", options->metrics,
          "metrics to show, separated by commas; by default those that every finished run has")
      ->delimiter(',');
  command->add_flag("--json", options->json, "as JSON: groups, keys, metrics, differences");
  command->callback([options] { compare(*options); });
}

}  // namespace difflab::cli
