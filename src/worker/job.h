#pragma once

#include <filesystem>

namespace difflab {

/// TERM, INT, HUP, USR1 and USR2 ask the run to stop at the next step; a second INT ends at once.
void install_stop_signals();

/// Behaviour of a job whose run another process holds.
enum class WhenTaken { kWait, kGiveUp };

/// Executes the run that DIR/config.yaml describes, unless its result is there already. Two callers
/// never work on one run (record/lease.h): one waits until nobody else is at it, or gives up
/// (kRunOvertaken), so that its launcher can hand out another run meanwhile. `cores`: see
/// run_experiment.
int run_job(const std::filesystem::path& directory, int cores = 1,
            WhenTaken when_taken = WhenTaken::kWait);

/// Reads run folders from standard input, one a line, and has each done by a forked child, which
/// calls `run_job` with its output in DIR/log.txt and gives up runs that others hold. A child that
/// was done within two seconds of its start, and well, takes another job: for short runs the
/// process itself is most of the cost.
/// Prints "ready" on standard output when it takes jobs, and one line per end:
/// "done EXITCODE DIR", "killed SIGNAL DIR" or "refused ERRNO DIR". How many run at once is the
/// caller's choice: each job starts when its line arrives.
///
/// TERM, INT or HUP, and the end of standard input while jobs run, ask the children to stop at
/// their next step; the server then waits for them, after the end of input at most a minute, and
/// returns. Children die with the server.
int serve_jobs(int cores);

}  // namespace difflab
