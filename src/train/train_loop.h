#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "record/log/event_log.h"
#include "record/run_directory.h"
#include "train/checkpoint.h"
#include "train/event_watch.h"
#include "train/settings/train_config.h"
#include "util/json.h"

namespace difflab {

class LanguageModel;
class Optimizer;
class Task;

enum class TrainEnd { kFinished, kDiverged, kInterrupted };

/// Inputs of the training loop.
struct TrainContext {
  LanguageModel& model;
  const Task& task;
  const TrainConfig& config;
  std::uint64_t seed;
  bool record_steps;  ///< cuda_graph
  RunIdentity run;
  RunDirectory directory;
  /// Held-out figures for a metrics line, over so many sequences per part.
  std::function<Json(LanguageModel&, std::int64_t samples)> validate;
  LookForEvents look_for;                        ///< such figures, and λ of each layer
  std::function<bool()> stop_requested;          ///< asked between steps
  std::function<void()> before_writing = [] {};  ///< may throw to keep the folder as it is
  std::int64_t first_batch = 0;                  ///< of the training data
  /// Brings the model, and the optimiser if it goes on from a stage, to where a training begins
  /// that is not resumed; an end if it cannot begin.
  std::function<std::optional<TrainEnd>(Optimizer&)> begin = [](Optimizer&) {
    return std::nullopt;
  };
};

struct TrainOutcome {
  TrainEnd end;
  Progress progress;  ///< if diverged, its step is the first bad one, counted from 1 (0: the start)
  TimeSpent spent = {};  ///< by this call
};

/// Trains from the checkpoint in the directory, or from the model as it is. Writes metrics.jsonl
/// (a line at step 0 and every eval_every steps), status.json and the checkpoint. A loss or
/// gradient that is NaN or infinite ends it as diverged; a requested stop saves and returns.
/// Milestones: steps_to_90_accuracy and its _seconds, the first evaluation with valid_accuracy
/// ≥ 0.9; and those of train.events (event_watch.h), at one of which training may stop.
TrainOutcome train(const TrainContext& context);

}  // namespace difflab
