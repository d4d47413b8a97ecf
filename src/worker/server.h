#pragma once

#include <filesystem>
#include <functional>

namespace difflab {

/// Reads run folders from standard input, one a line, and has each done by a forked child, which
/// calls `run_job` with its output in DIR/log.txt. A child that was done within two seconds of its
/// start, and well, takes another job: for short runs the process itself is most of the cost.
/// Prints "ready" on standard output when it takes jobs, and one line per end:
/// "done EXITCODE DIR", "killed SIGNAL DIR" or "refused ERRNO DIR". How many run at once is the
/// caller's choice: each job starts when its line arrives.
///
/// TERM, INT or HUP, and the end of standard input while jobs run, ask the children to stop at
/// their next step; the server then waits for them, after the end of input at most a minute, and
/// returns. Children die with the server.
int serve_jobs(const std::function<int(const std::filesystem::path&)>& run_job);

}  // namespace difflab
