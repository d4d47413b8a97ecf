#pragma once

#include <functional>

#include "record/lease.h"
#include "record/run_directory.h"
#include "run/run_config.h"

namespace difflab {

enum class RunEnd { kComplete, kInterrupted };

/// Trains and evaluates what the configuration describes and leaves result.json in the directory;
/// the run is then complete, whether it finished or diverged. Continues from a checkpoint. Returns
/// kInterrupted, with a checkpoint written, when `stop_requested` answers true between two steps.
/// @param lease asked before every write; none if nobody else can be at the run
/// @param cores that evaluations on the CPU may use; more of them change no number
/// @throws UserError if something the user can change stands in the way (no CUDA, a full disk …),
/// LeaseLost if another process has taken the run over.
RunEnd run_experiment(const RunConfig& config, const RunDirectory& directory,
                      const std::function<bool()>& stop_requested, Lease* lease = nullptr,
                      int cores = 1);

}  // namespace difflab
