#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "sweep/launcher/batch.h"
#include "sweep/launcher/job_arrays.h"

namespace difflab::sweep {

/// Runs as subjobs of job arrays of OpenPBS or PBS Professional, as SlurmLauncher.
struct PbsLauncher : JobArrayKeys {
  static constexpr std::string_view kKind = "pbs";
  static constexpr std::string_view kAbout = "job arrays of OpenPBS or PBS Professional";

  std::string queue, account, project, chunk;
  std::vector<std::string> resources;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("queue", queue, "queue; empty for the server's default");
    visit("account", account, "account to charge (qsub -A); empty for none");
    visit("project", project, "project (qsub -P); empty for the default");
    visit("chunk", chunk, "what else a task's node must have, e.g. cpu_type=rome:model=abc");
    JobArrayKeys::visit_fields(visit);
    visit("resources", resources, "further qsub -l of a task, e.g. place=scatter");
  }
  void validate(config::Check& check) const;

  std::unique_ptr<BatchSystem> batch() const;
};

}  // namespace difflab::sweep
