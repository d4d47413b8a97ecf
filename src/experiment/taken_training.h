#pragma once

#include <optional>
#include <utility>

#include "record/lease.h"
#include "record/run_directory.h"

namespace difflab {

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

}  // namespace difflab
