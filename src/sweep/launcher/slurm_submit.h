#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sweep/launcher/slurm.h"
#include "sweep/plan/plan.h"

namespace difflab::sweep {

/// One job array: FOLDER/slurm/NAME/ with plan.json (its runs), task.sh, the tasks' output and,
/// once Slurm has accepted it, job.json. Run i belongs to task i mod tasks.
struct Submission {
  std::filesystem::path folder;
  std::string name;  ///< the job's name in Slurm: unique, so that it is found also without job.json
  std::string job;   ///< Slurm's number; empty if the submitting program did not live to note it
  int tasks = 0;
  std::vector<Run> runs;
};

/// Submits the runs of `plan` as one array for each shape of run (threads and device), the longest
/// runs first. All are accepted or, if Slurm refuses one, none stays.
/// @param folder the sweep's output
/// @param driver the difflab program, which the tasks start
/// @throws UserError with sbatch's words.
std::vector<Submission> submit(const Plan& plan, const SlurmLauncher& slurm,
                               const std::filesystem::path& folder,
                               const std::filesystem::path& driver);

/// The arrays that were submitted for a sweep, oldest first.
std::vector<Submission> submissions_of(const std::filesystem::path& folder);

}  // namespace difflab::sweep
