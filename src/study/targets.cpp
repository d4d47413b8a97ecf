#include "study/targets.h"

#include <algorithm>
#include <set>

#include "config/value/yaml.h"
#include "study/project.h"
#include "study/run_rows.h"
#include "study/study.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::study {
namespace {

namespace fs = std::filesystem;

// The keys of the configuration in which the runs differ.
std::vector<std::string> varied_keys(const std::vector<RunRow>& rows) {
  std::set<std::string> keys;
  for (const auto& row : rows) {
    for (const auto& [key, value] : row) {
      if (key.starts_with(kOfConfig)) keys.insert(key);
    }
  }
  std::vector<std::string> varied;
  for (const auto& key : keys) {
    const bool same = std::ranges::all_of(
        rows, [&](const RunRow& row) { return cell_of(row, key) == cell_of(rows.front(), key); });
    if (!same) varied.push_back(key);
  }
  return varied;
}

std::vector<sweep::Run> named(const std::vector<RunRow>& rows) {
  const auto varied = varied_keys(rows);
  std::vector<sweep::Run> runs;
  for (const auto& row : rows) {
    sweep::Run run;
    run.id = cell_of(row, "id");
    run.directory = {cell_of(row, "directory")};
    if (const auto steps = row.find("config.train.steps");
        steps != row.end() && steps->second.is_number_integer()) {
      run.work = steps->second.get<std::int64_t>();
    }
    for (const auto& key : varied) {
      run.axes.emplace_back(key.substr(kOfConfig.size()), cell_of(row, key));
    }
    std::vector<std::string> words{run.id.substr(0, kShownId)};
    for (const char* key : {"config.model.name", "config.task.kind"}) {
      if (const auto text = cell_of(row, key); !text.empty()) words.push_back(text);
    }
    if (const auto seed = cell_of(row, "config.seed"); !seed.empty()) {
      words.push_back(concat("seed=", seed));
    }
    run.name = join(words, " ");
    runs.push_back(std::move(run));
  }
  return runs;
}

// A run that was named by itself.
bool is_lone(const Target& target) {
  return target.runs.size() == 1 && target.runs.front().directory.path == target.folder;
}

// A word that no path can be, as a long override, is not there.
bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}

bool is_experiment(const std::string& word) {
  try {
    const auto names = all_experiments();
    return is_among(word, names);
  } catch (const UserError&) {  // no project here: the word is a folder, or nothing
    return false;
  }
}

Target find_target(const std::string& word, const std::vector<std::string>& overrides) {
  const auto folder = fs::absolute(word).lexically_normal();
  if (is_there(folder / "plan.json")) {
    const auto plan = sweep::read_plan(folder);
    return {concat(plan.experiment, "/", plan.preset), folder, false, plan.runs};
  }
  if (is_there(RunDirectory{folder}.config())) {
    return {folder.filename().string(), folder, false, named({read_run({folder})})};
  }
  if (is_folder(folder / "runs")) {
    return {config::shown_path(folder), folder, true, runs_in(folder)};
  }
  if (is_experiment(word)) {
    const auto study = load_study(word, overrides);
    const auto& current = study.current();
    return {concat(current.name, "/", current.preset), current.output, false, current.needed_runs(),
            std::make_shared<const report::ReportConfig>(current.config.report)};
  }
  if (is_folder(folder)) {
    throw UserError(concat(folder.string(),
                           " holds no plan.json, no runs/ and no config.yaml; expected the output "
                           "of a frozen sweep, a results folder or a run's folder"));
  }
  try {
    const auto run = find_run(word, find_project() / "results");
    return {run.path.filename().string(), run.path, false, named({read_run(run)})};
  } catch (const UserError& error) {
    throw UserError(concat("'", word, "' is neither a folder nor an experiment (./difflab list ",
                           "experiments), and as a run: ", error.what()));
  }
}

}  // namespace

std::vector<sweep::Run> runs_in(const fs::path& results) { return named(read_runs(results)); }

std::vector<Target> find_targets(const std::vector<std::string>& words) {
  std::vector<std::string> names, overrides;
  for (const auto& word : words) {
    (is_override(word) && !is_there(word) ? overrides : names).push_back(word);
  }
  std::vector<Target> targets;
  if (names.empty() && !overrides.empty()) {
    throw UserError(
        concat("'", overrides.front(), "' is an override; expected an experiment before it"));
  }
  if (names.empty()) names.push_back((find_project() / "results").string());
  for (const auto& name : names) targets.push_back(find_target(name, overrides));
  // Runs that were named one by one are compared with each other.
  if (std::ranges::all_of(targets, is_lone) && targets.size() > 1) {
    std::vector<RunRow> rows;
    for (const auto& target : targets) rows.push_back(read_run({target.folder}));
    const auto runs = named(rows);
    for (std::size_t i = 0; i < targets.size(); ++i) targets[i].runs = {runs[i]};
  }
  return targets;
}

std::vector<sweep::Run> runs_of(const std::vector<Target>& targets) {
  std::vector<sweep::Run> runs;
  std::set<std::string> seen;
  for (const auto& target : targets) {
    for (auto run : target.runs) {
      if (!seen.insert(run.directory.path.string()).second) continue;
      if (targets.size() > 1 && !is_lone(target)) run.name = concat(target.name, " ", run.label());
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

std::string title_of(const std::vector<Target>& targets) {
  std::vector<std::string> names;
  for (const auto& target : targets) names.push_back(target.name);
  return join(names);
}

}  // namespace difflab::study
