#pragma once

#include <filesystem>

namespace difflab {

/// TERM, INT, HUP, USR1 and USR2 ask the run to stop at the next step; a second INT ends at once.
void install_stop_signals();

/// Executes the run that DIR/config.yaml describes, unless its result is there already. Waits
/// until nobody else is at it, so two callers never work on one run (record/lease.h). `cores`: see
/// run_experiment.
int run_job(const std::filesystem::path& directory, int cores = 1);

}  // namespace difflab
