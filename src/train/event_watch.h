#pragma once

#include <functional>

#include "train/checkpoint.h"
#include "train/settings/train_config.h"

namespace difflab {

/// Whether the event has happened at which this training stops (train.stop_at), or its time is up
/// (train.seconds). A checkpoint that is saved then is the last, also for who resumes.
bool has_stopped(const TrainConfig& config, const Progress& progress);

/// Looks for the events of a training (train.events) every event_every steps on a small held-out
/// batch, and confirms what it finds there on the full one.
class EventWatch {
 public:
  /// @param look held-out figures of the model as it is, over so many sequences per task part
  EventWatch(const TrainConfig& config, std::function<Json(std::int64_t samples)> look)
      : config_(config), look_(std::move(look)) {}

  /// Looks if it is time to. Notes in progress.milestones the step of the first look in the row
  /// that made an event (steps_to_NAME), and the training seconds at its end
  /// (time_to_NAME_seconds).
  void after_step(Progress& progress) const;

 private:
  void look_for(const TrainEvent& event, const Json& seen, Progress& progress) const;

  const TrainConfig& config_;
  std::function<Json(std::int64_t)> look_;
};

}  // namespace difflab
