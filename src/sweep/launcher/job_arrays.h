#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/schema/fields.h"
#include "sweep/launcher/batch.h"
#include "util/process.h"

namespace difflab::sweep {

/// Keys of every queue that has job arrays.
struct JobArrayKeys {
  std::int64_t minutes = 60;
  std::int64_t memory_mb = 2'000;
  std::int64_t gpus = 1;
  std::int64_t at_once = 0;
  std::int64_t runs_per_task = 1;
  std::int64_t workers = 1;
  std::int64_t signal_seconds = 120;
  std::int64_t max_requeues = 100;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    const auto positive = config::at_least(1);
    visit("minutes", minutes, "time limit of a task; what is not finished by then is continued",
          positive);
    visit("memory_mb", memory_mb, "memory of one run in MiB", positive);
    visit("gpus", gpus, "GPUs of one task with device: cuda; its runs share the first",
          config::at_least(0));
    visit("at_once", at_once, "tasks at the same time; 0 for no limit", config::at_least(0));
    visit("runs_per_task", runs_per_task, "runs that share a task, to pack small ones", positive);
    visit("workers", workers, "runs of a task at the same time", positive);
    visit("signal_seconds", signal_seconds,
          "seconds before the time limit at which runs save their state", positive);
    visit("max_requeues", max_requeues, "how often a task is continued before it is given up",
          config::at_least(0));
  }
  void validate(config::Check& check) const;

  /// Bytes that a run may take.
  double memory_of_run() const { return static_cast<double>(memory_mb) * (1 << 20); }
  /// Runs of one task at the same time.
  std::int64_t workers_of_task() const { return runs_per_task < workers ? runs_per_task : workers; }
};

/// Refuses control characters in texts that become words of the program `submitter`.
void check_words(config::Check& check, std::string_view submitter,
                 const std::vector<std::pair<std::string, std::string>>& texts);

/// A queue with job arrays. Each array is a folder OUTPUT/KIND/NAME/ with plan.json (its runs),
/// task.sh, the tasks' output and, once the queue has accepted it, job.json. A kind says how to
/// submit one array, and how to list, cancel and requeue tasks.
class JobArrays : public BatchSystem {
 public:
  std::vector<Submission> submit(const Plan& plan, const std::filesystem::path& folder,
                                 const std::filesystem::path& driver) const final;
  std::vector<Submission> submissions_of(const std::filesystem::path& folder) const final;

 protected:
  /// @param kind of launcher, which names the arrays' folder
  JobArrays(std::string_view kind, const JobArrayKeys& keys) : kind_(kind), keys_(keys) {}

  /// Program and options that submit `array`, whose runs all have `threads` and `device`. What
  /// follows them are task.sh and its arguments: difflab, the array's folder, the number of its
  /// tasks, workers of a task, requeues.
  virtual std::vector<std::string> submit_command(const Submission& array, std::int64_t threads,
                                                  const std::string& device) const = 0;
  /// The text of task.sh. No word of the user may be in it: what differs comes as arguments, which
  /// no shell reads again.
  virtual std::string task_script() const = 0;

 private:
  void submit_array(Submission& array, const Plan& plan, const std::filesystem::path& driver) const;
  void take_back(const std::vector<Submission>& arrays) const;

  std::string kind_;
  JobArrayKeys keys_;
};

/// The output of a program. @throws UserError with its last words if it fails.
std::string output_of(const std::vector<std::string>& argv, OnStop on_stop = OnStop::kWait);

}  // namespace difflab::sweep
