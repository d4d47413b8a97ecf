#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "sweep/launcher/batch.h"
#include "sweep/launcher/job_arrays.h"

namespace difflab::sweep {

/// Runs as tasks of Slurm job arrays. The driver only submits; the tasks are `difflab work` on the
/// nodes. The keys are told to sbatch as they are and mean what they mean there.
struct SlurmLauncher : JobArrayKeys {
  static constexpr std::string_view kKind = "slurm";
  static constexpr std::string_view kAbout = "job arrays of a Slurm cluster";

  std::string partition, account, qos, constraint;
  std::vector<std::string> options;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("partition", partition, "partition; empty for the cluster's default");
    visit("account", account, "account to charge; empty for yours");
    visit("qos", qos, "quality of service; empty for the default");
    visit("constraint", constraint, "features that nodes must have; empty for any");
    JobArrayKeys::visit_fields(visit);
    visit("options", options, "further options of sbatch, e.g. --mail-type=END");
  }
  void validate(config::Check& check) const;

  std::unique_ptr<BatchSystem> batch() const;
};

}  // namespace difflab::sweep
