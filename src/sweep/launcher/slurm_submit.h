#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sweep/launcher/slurm.h"
#include "sweep/plan/plan.h"

namespace difflab::sweep {

/// BatchSystem::submit. An array is FOLDER/slurm/NAME/ with plan.json (its runs), task.sh, the
/// tasks' output and, once Slurm has accepted it, job.json.
/// @param folder the sweep's output
/// @param driver the difflab program, which the tasks start
/// @throws UserError with sbatch's words.
std::vector<Submission> submit(const Plan& plan, const SlurmLauncher& slurm,
                               const std::filesystem::path& folder,
                               const std::filesystem::path& driver);

/// The arrays that were submitted for a sweep, oldest first.
std::vector<Submission> submissions_of(const std::filesystem::path& folder);

}  // namespace difflab::sweep
