#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "sweep/launcher/batch.h"

namespace difflab::sweep {

/// Runs as tasks of Slurm job arrays. The driver only submits; the tasks are `difflab work` on the
/// nodes. The keys are told to sbatch as they are and mean what they mean there.
struct SlurmLauncher {
  static constexpr std::string_view kKind = "slurm";
  static constexpr std::string_view kAbout = "job arrays of a Slurm cluster";

  std::string partition, account, qos, constraint;
  std::int64_t minutes = 60;
  std::int64_t memory_mb = 2'000;
  std::int64_t gpus = 1;
  std::int64_t at_once = 0;
  std::int64_t runs_per_task = 1;
  std::int64_t workers = 1;
  std::int64_t signal_seconds = 120;
  std::int64_t max_requeues = 100;
  std::vector<std::string> options;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    const auto positive = config::at_least(1);
    visit("partition", partition, "partition; empty for the cluster's default");
    visit("account", account, "account to charge; empty for yours");
    visit("qos", qos, "quality of service; empty for the default");
    visit("constraint", constraint, "features that nodes must have; empty for any");
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
    visit("options", options, "further options of sbatch, e.g. --mail-type=END");
  }
  void validate(config::Check& check) const;

  std::unique_ptr<BatchSystem> batch() const;
  /// Bytes that a run may take.
  double memory_of_run() const { return static_cast<double>(memory_mb) * (1 << 20); }
};

}  // namespace difflab::sweep
