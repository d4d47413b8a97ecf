#pragma once

#include <cstdint>
#include <vector>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab {

/// Wall-clock seconds of a run's work by what they went to. Noted with the run's last event, so
/// that a sweep can say where its time went; results do not have it.
struct TimeSpent {
  double training = 0;     ///< optimiser steps, their data included
  double events = 0;       ///< checks for train.events
  double validation = 0;   ///< metrics lines
  double checkpoints = 0;  ///< written during training
  double evaluation = 0;   ///< questions to the trained model

  struct Part {
    const char* key;   ///< "events"
    const char* name;  ///< "event checks"
    double TimeSpent::*seconds;
  };
  /// The members, in this order.
  static const std::vector<Part>& parts();

  TimeSpent& operator+=(const TimeSpent& other);
  double sum() const;
  Json json() const;
};

void note_time(const RunDirectory& run, const TimeSpent& spent);

/// The sum of what was noted from that byte of the event log on (length_of_events).
TimeSpent time_spent(const RunDirectory& run, std::uint64_t from = 0);

}  // namespace difflab
