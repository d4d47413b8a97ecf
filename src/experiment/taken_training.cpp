#include "experiment/taken_training.h"

#include <exception>
#include <filesystem>
#include <iostream>

#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "experiment/run_experiment.h"
#include "model/language_model.h"
#include "record/log/event_log.h"
#include "record/safetensors.h"
#include "record/status.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "run/trained_runs.h"
#include "train/checkpoint.h"
#include "train/event_watch.h"
#include "train/tensor_file.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

std::vector<RunDirectory> others_with_training(const RunConfig& config, const RunDirectory& run) {
  return runs_with_training(results_of(run), training_id(config), run.path.filename().string());
}

// Checks the files of the run itself: the index of trained runs only tells where to look.
void require_trained(const RunConfig& config, const RunDirectory& other) {
  if (training_of(config::load_yaml(other.config())) != training_id(config)) {
    throw UserError(concat(other.path.string(), ": has another training"));
  }
  const auto progress =
      progress_of(read_sealed_safetensors(other.checkpoint()), other.checkpoint());
  if (progress.step != config.train.steps && !has_stopped(config.train, progress)) {
    throw UserError(concat(other.path.string(), ": is trained for ", progress.step, " of ",
                           config.train.steps, " steps"));
  }
}

// A checkpoint that cannot be read is not the end either; the training says what is wrong with it.
bool is_trained(const RunConfig& config, const RunDirectory& run) {
  try {
    require_trained(config, run);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// Before anything else changes: without a checkpoint a curve that has gone further than this run
// is cut when it is trained.
void remove_checkpoints(const RunDirectory& run, const Lease* lease) {
  if (lease != nullptr) lease->require_held();
  std::error_code none;
  fs::remove(previous_checkpoint(run.checkpoint()), none);
  fs::remove(run.checkpoint(), none);
}

void take_curve(const RunDirectory& run, const RunDirectory& other, const Lease* lease) {
  const auto curve = read_file(other.metrics());
  if (lease != nullptr) lease->require_held();
  write_file_atomically(run.metrics(), curve, Sync::kBytes);
}

// Beside the run; below it if that lies in no results folder.
RunDirectory place_of_stage(const RunConfig& stage, const RunDirectory& run) {
  const auto results = results_of(run);
  return {(results.empty() ? run.path / "stages" : results / "runs") / run_id(stage)};
}

}  // namespace

std::optional<RunDirectory> take_training(const RunConfig& config, const RunDirectory& run,
                                          const Lease* lease) {
  std::error_code none;
  const bool has_begun = fs::exists(run.checkpoint(), none);
  const auto others = others_with_training(config, run);
  if (has_begun && (others.empty() || is_trained(config, run))) return std::nullopt;
  for (const auto& other : others) {
    if (!fs::exists(other.checkpoint(), none)) continue;
    try {
      require_trained(config, other);
    } catch (const UserError& error) {
      std::cout << "skipping a training: " << error.what() << '\n';
      continue;
    }
    if (has_begun) remove_checkpoints(run, lease);
    take_curve(run, other, lease);
    // Last, since with a checkpoint the run counts as begun. No writer changes such a file in
    // place.
    share_file(other.checkpoint(), run.checkpoint());
    const auto name = other.path.filename().string();
    std::cout << "trained by run " << name << ", only asked\n";
    note_event(run, "take training", {{"run", name}});
    return other;
  }
  return std::nullopt;
}

std::optional<std::pair<RunDirectory, Json>> diverged_twin(const RunConfig& config,
                                                           const RunDirectory& run,
                                                           const Lease* lease) {
  for (const auto& other : others_with_training(config, run)) {
    try {
      auto result = read_result(other);
      if (!result || result->value("status", "") != name_of(RunState::kDiverged)) continue;
      if (training_of(config::load_yaml(other.config())) != training_id(config)) continue;
      take_curve(run, other, lease);
      (*result)["id"] = run_id(config);
      note_event(run, "take training", {{"run", other.path.filename().string()}});
      return {{other, *std::move(result)}};
    } catch (const UserError& error) {
      std::cout << "skipping a training: " << error.what() << '\n';
    }
  }
  return std::nullopt;
}

bool has_training(const std::string& config_json, const std::string& training) {
  const Json config = Json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) return false;
  try {
    return training_of(config::from_json(config)) == training;
  } catch (const UserError&) {
    return false;
  }
}

std::optional<RunDirectory> stage_of(const RunConfig& config, const RunDirectory& run) {
  const auto stage = earlier_run(config);
  return stage ? std::optional(place_of_stage(*stage, run)) : std::nullopt;
}

std::string unfinished_stage(const RunConfig& config, const RunDirectory& run) {
  const auto stage = stage_of(config, run);
  return !stage || read_result(*stage) ? "" : stage->path.lexically_relative(run.path).string();
}

std::optional<TrainEnd> begin_from_stage(const RunConfig& config, const RunDirectory& run,
                                         LanguageModel& model, Optimizer& optimizer,
                                         const std::function<bool()>& stop_requested,
                                         TimeSpent& spent) {
  const auto stage = earlier_run(config);
  if (!stage) return std::nullopt;
  const auto place = place_of_stage(*stage, run);
  const auto name = place.path.filename().string();
  write_config(place, config::to_yaml(config::write(*stage)));
  if (is_restored(place)) {
    throw UserError(concat(place.path.string(),
                           ": is a stage of this run and was restored without its model; delete "
                           "the folder to have it trained"));
  }
  if (read_result(place)) {
    remove_leftovers(place);  // of a process that was killed after its last word
  } else {
    std::cout << "stage " << config.stages.size() << " is run " << name << '\n';
    write_status(run, RunState::kRunning,
                 {.steps = config.train.steps, .stages = first_batch(config)}, "",
                 unfinished_stage(config, run));
    while (!read_result(place)) {
      const auto lease = Lease::acquire(place, stop_requested);
      if (!lease) return TrainEnd::kInterrupted;
      if (read_result(place)) break;
      const auto noted = length_of_events(place);
      try {
        const auto end = run_experiment(*stage, place, stop_requested, lease.get());
        spent += time_spent(place, noted);
        if (end == RunEnd::kInterrupted) return TrainEnd::kInterrupted;
      } catch (const std::exception&) {
        if (lease->held()) throw;
        std::cout << "another process has taken stage " << name << " over: waiting for it\n";
      }
    }
  }
  note_event(run, "begin from stage", {{"run", name}});
  if (read_result(place)->value("status", "") == name_of(RunState::kDiverged)) {
    return TrainEnd::kDiverged;
  }
  try {
    const auto checkpoint = read_sealed_safetensors(place.checkpoint());
    if (config.train.keep_optimizer) {
      take_state(checkpoint, place.checkpoint(), optimizer);
    } else {
      load_parameters(model, checkpoint, place.checkpoint().string());
    }
  } catch (const UserError& error) {
    throw UserError(concat(error.what(), "; ", place.path.string(),
                           " is a stage of this run: delete the folder to have it trained again"));
  }
  return std::nullopt;
}

}  // namespace difflab
