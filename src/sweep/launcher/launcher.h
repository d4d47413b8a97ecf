#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "util/process.h"

namespace difflab::sweep {

/// How a run's process ended. Whether the run is complete, only its result.json says.
struct JobEnd {
  enum class How {
    kExited,       ///< with `code`
    kKilled,       ///< by signal `code`
    kLost,         ///< what executed it is gone, see `reason`
    kRefused,      ///< it was not begun, see `reason`
    kUnreachable,  ///< nor was it here: the machine that should begin it does not answer
  };
  std::filesystem::path directory;
  How how = How::kExited;
  int code = 0;
  std::string
      reason;  ///< of the last three, e.g. "the worker program was killed by signal 9 (Killed)"

  /// "killed by signal 9 (Killed)" …
  std::string text() const {
    if (how == How::kExited) return ExitStatus{.code = code}.text();
    return how == How::kKilled ? ExitStatus{.signal = code}.text() : reason;
  }
};

/// Which runs start first.
enum class RunOrder { kLongest, kShortest, kListed };

/// The rules of an execution.
struct Policy {
  /// How often a run is tried again when it was killed or its launcher was lost. A run that fails
  /// by itself (exit codes 1, 2, 70), or breaks one of the limits, would do so again and is not.
  int retries = 2;
  std::int64_t memory_mb = 0;  ///< of one run, its own pages, looked at twice a second; 0: no limit
  double timeout_seconds = 0;  ///< of one run in this execution; 0: no limit
  bool fail_fast = false;  ///< the first failure stops everything; running runs save their state
  RunOrder order = RunOrder::kLongest;
  double stop_grace_seconds = 60;  ///< for runs to save their state after the first stop signal
  double late_grace_seconds = 10;  ///< the same for a run that is over its time
};

/// Executes runs somewhere. A kind of launcher only starts and stops; what runs next, what is
/// tried again and what counts as failed is decided in execute.h, the same way for all of them.
class Launcher {
 public:
  virtual ~Launcher() = default;

  /// How many runs it takes at the same time.
  virtual int capacity() const = 0;
  /// Starts the run whose configuration lies in `directory`/config.yaml.
  virtual void submit(const std::filesystem::path& directory) = 0;
  /// The runs that ended since the last call; waits for one up to `timeout`, comes back early when
  /// a signal arrives. @throws UserError if runs cannot be executed at all.
  virtual std::vector<JobEnd> wait(std::chrono::milliseconds timeout) = 0;
  /// Asks all runs to save their state and end.
  virtual void interrupt() = 0;
  /// Ends all runs at once; they lose what happened since their last checkpoint.
  virtual void kill() = 0;
};

/// Somewhere that a `difflab-worker serve` process executes runs.
struct ServerPlace {
  std::string host;  ///< at the other end of a connection; empty: this machine
  int capacity = 1;  ///< runs at the same time
  /// The command line of the process; `run` is the folder of the first run that it gets.
  std::function<std::vector<std::string>(const std::filesystem::path& run)> command;
};

/// A launcher with one server per place, started when it gets its first run, and again after it was
/// lost. A host that is lost gets nothing for a while.
std::unique_ptr<Launcher> launch_in(std::vector<ServerPlace> places);

}  // namespace difflab::sweep
