#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "model/language_model.h"
#include "record/run_directory.h"
#include "record/safetensors.h"
#include "run/run_config.h"
#include "task/base/task.h"

namespace difflab {

/// The configuration that a run directory holds.
/// @throws UserError if it cannot be read, or if it is not the one that the folder is named for.
RunConfig read_run_config(const RunDirectory& run);

/// A trained model with what it was trained on, on the CPU and in evaluation mode.
struct SavedRun {
  RunConfig config;
  std::unique_ptr<Task> task = nullptr;
  std::shared_ptr<LanguageModel> model = nullptr;
  bool finished = false;  ///< else the model is on its way
};

/// The model of a run as its last checkpoint has it.
/// @throws UserError if there is none, if it is damaged, or if the run diverged.
SavedRun load_run(const RunDirectory& run);

/// Writes the parameters of a run alone, without the optimiser's moments, under their official
/// names; the resolved configuration is in the metadata ("config", JSON).
/// @throws UserError as load_run, if the run is not finished, or if the file cannot be written.
void export_run(const RunDirectory& run, const std::filesystem::path& file);

/// Fills a model from the file of `init_from`: parameters under our names, or those of
/// transformers' DiffLlama (run/diffllama.h).
/// @throws UserError naming file and tensor if they do not fit; the model is then unchanged.
void load_initial_weights(LanguageModel& model, const Safetensors& file, const std::string& path);

}  // namespace difflab
