#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/value/value.h"
#include "record/run_directory.h"

namespace difflab {

/// Which runs of a results folder share a training, so that none is done twice: empty files
/// RESULTS/trainings/TRAINING/RUN, written when a training has ended. They are an index that can be
/// deleted and is made again by note_older_trainings; a reader believes the run's own files.

/// Notes that the training of a run has ended. Nothing happens if the run does not lie in
/// RESULTS/runs, or if nothing can be written: a training is then only done again.
void note_training(const RunDirectory& run, const std::string& training);
/// Takes it back: the run is trained anew, so that a checkpoint of it is no trained model.
void forget_training(const RunDirectory& run, const std::string& training);

/// The runs with this training, by name, but for `without`.
std::vector<RunDirectory> runs_with_training(const std::filesystem::path& results,
                                             const std::string& training,
                                             const std::string& without = "");

/// The training of a resolved configuration. What it asks is not looked at, so that evaluations
/// which this version does not know are no hindrance. @throws UserError if it is no run's.
std::string training_of(config::Value config);

/// Notes the trainings of finished runs that are not noted: those of older versions, or after
/// RESULTS/trainings was deleted. Runs whose configuration cannot be read are passed over.
void note_older_trainings(const std::filesystem::path& results);

/// RESULTS of a run in RESULTS/runs/ID; empty if it lies elsewhere.
std::filesystem::path results_of(const RunDirectory& run);

}  // namespace difflab
