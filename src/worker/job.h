#pragma once

#include <filesystem>

namespace difflab {

/// Exit codes of a run, read by the launcher.
enum JobExit : int {
  kJobComplete = 0,      ///< result.json exists, finished or diverged
  kJobFailed = 1,        ///< an error on our side; the message is in status.json and the log
  kJobUserError = 2,     ///< something the user can change
  kJobInterrupted = 75,  ///< stopped by a signal with a checkpoint written (EX_TEMPFAIL)
  kJobOvertaken = 76,    ///< another process took the run over while this one stood still
};

/// TERM, INT, HUP, USR1 and USR2 ask the run to stop at the next step; a second INT ends at once.
void install_stop_signals();

/// Executes the run that DIR/config.yaml describes, unless its result is there already. Waits
/// until nobody else is at it, so two callers never work on one run (record/lease.h). `cores`: see
/// run_experiment.
int run_job(const std::filesystem::path& directory, int cores = 1);

}  // namespace difflab
