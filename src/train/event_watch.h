#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "train/checkpoint.h"
#include "train/settings/train_config.h"
#include "util/json.h"

namespace difflab {

/// True if the event has happened at which this training stops (train.stop_at), or its time is up
/// (train.seconds). A checkpoint that is saved then is the last, also for a resumed run.
bool has_stopped(const TrainConfig& config, const Progress& progress);

/// Held-out figures of the model under their names, over so many sequences per task part: those of
/// these metrics at least.
using LookForEvents =
    std::function<Json(const std::vector<std::string>& metrics, std::int64_t samples)>;

/// Looks for the events of a training (train.events) every event_every steps on a small held-out
/// batch, and confirms what it finds there on the full one.
class EventWatch {
 public:
  /// @param look asks the model as it is
  EventWatch(const TrainConfig& config, LookForEvents look)
      : config_(config), look_(std::move(look)) {}

  /// Looks if it is time to. Notes in progress.milestones the step of the first look in the row
  /// that made an event (steps_to_NAME), and the training seconds at its end
  /// (time_to_NAME_seconds), and in progress.looks all that was seen: {"every": 5,
  /// "valid_accuracy": […], …}, value i (from 0) at step (i + 1) · every, null where nobody kept
  /// it.
  void after_step(Progress& progress) const;

 private:
  void note(const TrainEvent& event, const Json& seen, Progress& progress) const;

  const TrainConfig& config_;
  LookForEvents look_;
};

}  // namespace difflab
