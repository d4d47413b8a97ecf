#pragma once

#include <functional>
#include <optional>
#include <string>

#include "record/run_directory.h"
#include "train/train_loop.h"

namespace difflab {

class LanguageModel;
class Optimizer;
struct RunConfig;

/// Gives the model the weights that the stage before this run's training left, and the optimiser
/// its state if train.keep_optimizer says so. The stage is a run of its own beside this one in
/// RESULTS/runs, under a lease of its own, so what another run or an earlier attempt has trained of
/// it is not trained again. Nothing happens to a run without stages. Returns kDiverged if the stage
/// diverged, kInterrupted if it was stopped. What it takes to train it is added to `spent`.
/// @throws UserError as run_experiment does.
std::optional<TrainEnd> begin_from_stage(const RunConfig& config, const RunDirectory& run,
                                         LanguageModel& model, Optimizer& optimizer,
                                         const std::function<bool()>& stop_requested,
                                         TimeSpent& spent);

/// The run that is this one's stage; nothing for a run without stages.
std::optional<RunDirectory> stage_of(const RunConfig& config, const RunDirectory& run);

/// The folder of the stage that this run still waits for, as seen from the run's own; empty if
/// there is none.
std::string unfinished_stage(const RunConfig& config, const RunDirectory& run);

}  // namespace difflab
