#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "sweep/launcher/slurm.h"
#include "sweep/plan/plan.h"

namespace difflab::sweep {

/// Slurm, asked through its commands. An array is FOLDER/slurm/NAME/ with plan.json (its runs),
/// task.sh, the tasks' output and, once Slurm has accepted it, job.json. The accounting database is
/// never asked: many clusters have none.
class Slurm final : public BatchSystem {
 public:
  explicit Slurm(SlurmLauncher config) : config_(std::move(config)) {}

  std::string name() const override { return "Slurm"; }
  std::vector<Submission> submit(const Plan& plan, const std::filesystem::path& folder,
                                 const std::filesystem::path& driver) const override;
  std::vector<Submission> submissions_of(const std::filesystem::path& folder) const override;
  std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& names) const override;
  void cancel(const std::vector<std::string>& jobs) const override;
  bool requeue_own_task() const override;
  int own_restarts() const override;

 private:
  /// Ends what Slurm has accepted of these arrays, also what it did not say so of: sbatch may fail,
  /// or its answer may be lost, after the array is in the queue under its name.
  void take_back(const std::vector<Submission>& arrays) const;

  SlurmLauncher config_;
};

}  // namespace difflab::sweep
