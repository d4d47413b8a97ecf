#pragma once

#include <chrono>
#include <vector>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab {

/// Wall-clock seconds of a run's work by what they went to. Noted with the run's last event, so
/// that a sweep can say where its time went; results do not have it.
struct TimeSpent {
  double training = 0;     ///< optimiser steps, their data included
  double events = 0;       ///< looks for train.events
  double validation = 0;   ///< metrics lines
  double checkpoints = 0;  ///< written during training
  double evaluation = 0;   ///< questions to the trained model

  struct Part {
    const char* key;   ///< "training"
    const char* name;  ///< "training", "looks for events"
    double TimeSpent::*seconds;
  };
  /// The members, in this order.
  static const std::vector<Part>& parts();

  TimeSpent& operator+=(const TimeSpent& other);
  double sum() const;
  Json json() const;
};

/// What the run noted when it ended last; nothing if it did not.
TimeSpent time_spent(const RunDirectory& run);

/// Adds the seconds that it lives to a sum.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  ~Timed() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace difflab
