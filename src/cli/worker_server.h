#pragma once

#include <filesystem>
#include <functional>

namespace difflab {

/// Reads run folders from standard input, one a line, and forks a child for each that calls
/// `run_job` with its output in DIR/log.txt. Prints one line per end on standard output:
/// "done EXITCODE DIR" or "killed SIGNAL DIR". How many run at once is the caller's choice: each
/// job starts when its line arrives.
///
/// TERM, INT or HUP, and the end of standard input while jobs run, ask the children to stop at
/// their next step; the server then waits for them and returns. Children die with the server.
int serve_jobs(const std::function<int(const std::filesystem::path&)>& run_job);

}  // namespace difflab
