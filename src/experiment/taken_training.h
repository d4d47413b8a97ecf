#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "record/lease.h"
#include "record/run_directory.h"
#include "train/train_loop.h"

namespace difflab {

class LanguageModel;
class Optimizer;
struct RunConfig;

/// Gives a run the training of another one in its results folder whose training
/// is the same and has ended: its last checkpoint (a second name of the same file) and its curve.
/// Going on from there takes no step. A run that has begun and not ended a training of its own
/// gives that up for it. Nothing happens if there is none.
/// @return the run that was taken from
/// @throws UserError if its files cannot be written
std::optional<RunDirectory> take_training(const RunConfig& config, const RunDirectory& run,
                                          const Lease* lease);

/// Another run with the same training that diverged, and its result, which is this one's, too.
std::optional<std::pair<RunDirectory, Json>> diverged_twin(const RunConfig& config,
                                                           const RunDirectory& run,
                                                           const Lease* lease);

/// True if the configuration in a checkpoint is that of a run with this training.
bool has_training(const std::string& config_json, const std::string& training);

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
