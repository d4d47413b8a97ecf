#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/planned_run.h"
#include "record/status.h"

namespace difflab::sweep {

using Run = PlannedRun;

/// The states of many runs in one go. @throws UserError that names every damaged result.
std::vector<RunState> states_of(const std::vector<Run>& runs);

/// The first point of every id, in order: points that resolve to the same configuration share a
/// run directory and run once.
std::vector<Run> distinct(const std::vector<Run>& points);

/// A sweep frozen to disk: everything that is needed to execute it and to ask about it from any
/// machine that sees the folder, without the files that it was composed from.
struct Plan {
  std::string experiment;
  std::string preset;
  std::vector<std::string> report;  ///< arguments of `difflab` that write the tables afterwards
  /// Arguments of `difflab` that find out whether further runs are needed, and run them; empty:
  /// these are all.
  std::vector<std::string> more = {};
  Json launcher;               ///< its configuration, with `kind`
  std::vector<Run> runs = {};  ///< distinct, in sweep order

  /// The most threads that one of the runs has.
  int threads_per_run() const;
};

/// Workers are told one run folder a line, and JSON is UTF-8.
/// @throws UserError for a path with control characters, or that is no UTF-8.
void require_plain_path(const std::filesystem::path& folder);

/// Writes FOLDER/plan.json. Run folders are named relative to it, so that the whole results folder
/// may be moved or mounted elsewhere. @throws UserError if it cannot be written.
void write_plan(const std::filesystem::path& folder, const Plan& plan);

/// @throws UserError if there is none, if it is damaged or of another version, or if a run lies
/// elsewhere than in runs/ID of the results folder that the plan lies in.
Plan read_plan(const std::filesystem::path& folder);

/// Runs that one of `count` equal parties executes: index, index + count, index + 2 count …
std::vector<Run> share_of(const std::vector<Run>& runs, int index, int count);

}  // namespace difflab::sweep
