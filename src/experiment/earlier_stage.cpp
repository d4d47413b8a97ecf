#include "experiment/earlier_stage.h"

#include <exception>
#include <iostream>

#include "config/schema/writer.h"
#include "config/value/yaml.h"
#include "experiment/run_experiment.h"
#include "model/language_model.h"
#include "record/lease.h"
#include "record/log/event_log.h"
#include "record/run_directory.h"
#include "record/sealed_safetensors.h"
#include "record/status.h"
#include "run/identity.h"
#include "run/run_config.h"
#include "run/stage.h"
#include "run/trained_runs.h"
#include "train/checkpoint.h"
#include "train/tensor_file.h"
#include "util/error.h"

namespace difflab {
namespace {

// Beside the run; below it if that lies in no results folder.
RunDirectory place_of_stage(const RunConfig& stage, const RunDirectory& run) {
  const auto results = results_of(run);
  return {(results.empty() ? run.path / "stages" : results / "runs") / run_id(stage)};
}

}  // namespace

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
