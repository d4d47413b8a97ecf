#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "report/settings/report_config.h"
#include "sweep/plan/plan.h"

namespace difflab::study {

/// Runs that a command was pointed at: of a sweep, a results folder, or one run.
struct Target {
  std::string name;              ///< "headline/default"; of a run, its id
  std::filesystem::path folder;  ///< of the sweep's output, or of the results, or of the run
  bool is_results = false;       ///< a results folder: its runs come and go
  std::vector<sweep::Run> runs;
  std::shared_ptr<const report::ReportConfig> report = nullptr;  ///< of an experiment
};

/// The runs that `words` name. Each is the output folder of a frozen sweep, a results folder, a run
/// (its folder, its id or the beginning of that), or an experiment; KEY=VALUE words are overrides
/// of the experiments. No word names the project's results folder. Runs without a sweep around them
/// have as axes the keys of their configurations that differ, and are named by their id, model,
/// task and seed.
/// @throws UserError if a word names nothing, or more than one run.
std::vector<Target> find_targets(const std::vector<std::string>& words);

/// The runs that lie in a results folder now.
std::vector<sweep::Run> runs_in(const std::filesystem::path& results);

/// All runs, each once, their names with the target's name before them if there are several.
std::vector<sweep::Run> runs_of(const std::vector<Target>& targets);

/// "headline/default", or several of them.
std::string title_of(const std::vector<Target>& targets);

}  // namespace difflab::study
