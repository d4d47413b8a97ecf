#pragma once

#include <filesystem>

namespace difflab {

/// TERM, INT, HUP, USR1 and USR2 ask the run to stop at the next step; a second INT ends at once.
void install_stop_signals();

/// True if one of these signals has come, for whichever job.
bool stop_is_requested();

/// Behaviour of a job whose run another process holds.
enum class WhenTaken { kWait, kGiveUp };

/// Executes the run that DIR/config.yaml describes, unless its result is there already. Two callers
/// never work on one run (record/lease.h): one waits until nobody else is at it, or gives up
/// (kRunOvertaken), so that its launcher can hand out another run meanwhile. `cores`: see
/// run_experiment.
int run_job(const std::filesystem::path& directory, int cores = 1,
            WhenTaken when_taken = WhenTaken::kWait);

}  // namespace difflab
