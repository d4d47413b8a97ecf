#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "train/checkpoint.h"
#include "train/settings/train_config.h"

namespace difflab {

/// Whether the event has happened at which this training stops (train.stop_at), or its time is up
/// (train.seconds). A checkpoint that is saved then is the last, also for who resumes.
bool has_stopped(const TrainConfig& config, const Progress& progress);

/// Which of these events a model meets, by held-out figures over so many sequences per task part.
using LookForEvents =
    std::function<std::vector<bool>(const std::vector<TrainEvent>&, std::int64_t samples)>;

/// Looks for the events of a training (train.events) every event_every steps on a small held-out
/// batch, and confirms what it finds there on the full one.
class EventWatch {
 public:
  /// @param look asks the model as it is
  EventWatch(const TrainConfig& config, LookForEvents look)
      : config_(config), look_(std::move(look)) {}

  /// Looks if it is time to. Notes in progress.milestones the step of the first look in the row
  /// that made an event (steps_to_NAME), and the training seconds at its end
  /// (time_to_NAME_seconds).
  void after_step(Progress& progress) const;

 private:
  void note(const TrainEvent& event, bool is_met, Progress& progress) const;

  const TrainConfig& config_;
  LookForEvents look_;
};

}  // namespace difflab
