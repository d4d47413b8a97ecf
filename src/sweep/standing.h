#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweep/launcher/batch.h"
#include "sweep/plan/plan.h"

namespace difflab::sweep {

/// Where one run of a frozen sweep stands, from its own files and from Slurm's queue.
struct Standing {
  Run run;
  RunState state = RunState::kNew;
  RunPosition position;                 ///< as its status says
  std::string message;                  ///< why it failed
  std::optional<QueuedTask> task = {};  ///< that will execute it, if one is queued
};

struct Standings {
  std::vector<Standing> runs;          ///< in sweep order
  std::vector<QueuedTask> tasks;       ///< of batch systems that this sweep still has
  std::optional<std::string> silence;  ///< why the queue could not be asked

  int count(RunState state) const;
  int complete() const;
  /// Runs without a result that nobody is at.
  std::vector<Run> abandoned() const;
};

/// Tasks of a sweep that batch systems still have.
struct Queue {
  std::vector<QueuedTask> tasks;
  std::map<std::string, QueuedTask> of_run;  ///< by run id
  std::optional<std::string> silence;        ///< why it could not be asked
};

/// Asks those that something was submitted to for the sweep in `folder`.
Queue queue_of(const std::filesystem::path& folder);

/// Standing of one run, from its files alone.
Standing standing_of(const Run& run);

/// Reads the files of every run and asks the batch systems that something was submitted to.
Standings standings_of(const Plan& plan, const std::filesystem::path& folder);

}  // namespace difflab::sweep
