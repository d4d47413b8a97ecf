#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sweep/plan/plan.h"

namespace difflab::sweep {

/// One task of a job array that a batch system still has: waiting, running or about to end.
struct QueuedTask {
  std::string name;    ///< of the array, unique (Submission)
  std::string job;     ///< number of the array
  int index = 0;       ///< of the task in it
  std::string state;   ///< "PENDING", "RUNNING", …
  std::string reason;  ///< why it waits, e.g. "Resources"; "None" for one that runs
};

/// One job array. Run i belongs to task i mod tasks.
struct Submission {
  std::filesystem::path folder;
  std::string name;  ///< the job's name: unique, so that it is found also without a number
  std::string job;   ///< its number; empty if the submitting program did not live to note it
  int tasks = 0;
  std::vector<Run> runs;
};

/// Takes runs and executes them later, on machines of its own, as tasks that are `difflab work`.
/// Who submitted may go; everybody who sees the folder can ask for them.
class BatchSystem {
 public:
  virtual ~BatchSystem() = default;

  /// As people call it: "Slurm".
  virtual std::string name() const = 0;

  /// Submits the runs of `plan` as one array for each shape of run (threads and device), the
  /// longest runs first. All are accepted or, if one is refused, none stays.
  /// @param folder the sweep's output
  /// @param driver the difflab program, which the tasks start
  /// @throws UserError with the system's words.
  virtual std::vector<Submission> submit(const Plan& plan, const std::filesystem::path& folder,
                                         const std::filesystem::path& driver) const = 0;
  /// The arrays that were submitted for a sweep, oldest first.
  virtual std::vector<Submission> submissions_of(const std::filesystem::path& folder) const = 0;

  /// The tasks of these arrays that it still has. @throws UserError with its words if it does not
  /// answer.
  virtual std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& names) const = 0;
  /// Ends every task of these arrays. @throws UserError with its words if it refuses.
  virtual void cancel(const std::vector<std::string>& jobs) const = 0;

  /// Puts the task that this process is in back into the queue, where it will be stopped and
  /// started again; false if this is no task. @throws UserError with the system's words.
  virtual bool requeue_own_task() const = 0;
  /// How often the task that this process is in has been started again.
  virtual int own_restarts() const = 0;
};

}  // namespace difflab::sweep
