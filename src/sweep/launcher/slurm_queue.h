#pragma once

#include <string>
#include <vector>

#include "sweep/launcher/batch.h"

namespace difflab::sweep {

/// Asks squeue for the tasks of these arrays. The accounting database is never asked: many clusters
/// have none. @throws UserError with Slurm's words if it does not answer.
std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& names);

/// Asks Slurm to end every task of these arrays. @throws UserError with its words if it refuses.
void cancel_jobs(const std::vector<std::string>& jobs);

/// Puts the task that this process is in back into the queue, where Slurm will stop it and start
/// it again; false if this is no task of Slurm. @throws UserError with its words if it refuses.
bool requeue_own_task();

/// How often Slurm has started the task again that this process is in.
int own_restarts();

}  // namespace difflab::sweep
