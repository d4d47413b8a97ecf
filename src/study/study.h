#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/grid/study.h"
#include "report/report.h"
#include "report/settings/tuned.h"
#include "study/study_config.h"
#include "sweep/plan/plan.h"
#include "util/text.h"

namespace difflab {

struct RunConfig;

namespace study {

/// An experiment with its preset and overrides, resolved and checked down to its last run.
struct Study {
  std::string name;
  std::string preset;
  StudyConfig config;
  std::vector<config::Override> overrides;  ///< as typed
  std::vector<sweep::Run> points;           ///< in sweep order, the last axis fastest
  std::filesystem::path root;               ///< of the project
  std::filesystem::path results;            ///< absolute
  /// results/NAME/PRESET, with a hash if overrides change it; empty: nothing is written but runs
  std::filesystem::path output;
  std::vector<std::string> notes = {};  ///< what a person should know before it runs, sentences
  int threads_per_run = 1;              ///< the largest
  std::map<std::string, std::shared_ptr<const RunConfig>> configs = {};  ///< of the points, by id

  /// The runs that find the tuned key's value for each variant, a study of its own; null: nothing
  /// is tuned. Until they are finished the points have the key's value as it is written.
  std::shared_ptr<Study> tuning = nullptr;
  /// Runs of a tuning that longer ones replaced, a study of their own; null if there are none.
  std::shared_ptr<Study> shorter = nullptr;
  std::optional<report::Tuned> tuned = {};  ///< what they have found; then the points have it
  /// Its points before any key was tuned, if one is.
  std::shared_ptr<const std::vector<config::Point>> composed = nullptr;
  bool is_being_tuned() const { return tuning != nullptr && !tuned; }
  /// The one whose runs are due: `tuning` while it is tuned, else this one.
  const Study& current() const { return is_being_tuned() ? *tuning : *this; }
  bool leads_on = false;  ///< it is a tuning: when its runs are finished, more are needed

  /// Adds a point whose configuration is resolved and checked. Its directory is in `results`.
  void add(const RunConfig& run, Axes axes);
  /// The values of an axis among the points, each once; "" where a point has no such axis.
  std::vector<std::string> values_of(std::string_view axis) const;
  /// The configuration of a point.
  const RunConfig& config_of(const sweep::Run& run) const { return *configs.at(run.id); }

  /// The study as write_report takes it; without runs while it is tuned.
  report::Study for_report() const;
  /// The distinct runs. While it is tuned none: those of `tuning` come first.
  std::vector<sweep::Run> needed_runs() const;
  /// The sweep as it is written to disk for others to execute; while it is tuned that is another
  /// study's (current()).
  sweep::Plan frozen() const;
};

/// Writes the report of a study's tuning, if it has one, with all folders in it.
void report_tuning(const Study& study);

/// True if a word of a command line is KEY=VALUE or ~KEY, and no name.
bool is_override(std::string_view word);

/// Without those that say where and how fast a study runs: its tables are the same.
std::vector<config::Override> that_change_something(std::vector<config::Override> overrides);

/// Reads everything and writes nothing.
/// @param name "" for the baseline, configs/config.yaml alone
/// @throws UserError with all problems of all runs, one a line.
Study load_study(const std::string& name, const std::vector<std::string>& overrides,
                 config::Watch watch = {});

/// A study that is being tuned, by what the files of its tuning's runs say now. Those of the
/// experiment are not read again, whatever somebody has made of them meanwhile.
/// @throws UserError as load_study
Study tune_again(const Study& study);

/// The runs of a study with all that can be checked without their files, which need not be there:
/// enough to say what models they train. The path of a text is absolute.
/// @throws UserError with all problems of all runs, one a line.
std::vector<RunConfig> written_runs(const std::string& name,
                                    const std::vector<std::string>& overrides);

/// Value of `key`, "evaluate" or "task", in each run of a study, composed but not checked.
/// @throws UserError with all problems of composing.
std::vector<config::Value> composed_values(const std::string& name,
                                           const std::vector<std::string>& overrides,
                                           const std::string& key);

}  // namespace study
}  // namespace difflab
