#pragma once

#include <string>

#include "record/log/time_spent.h"

namespace difflab::sweep {

/// What the time of a sweep went to.
struct SweepTime {
  double runs = 0;     ///< wall-clock seconds until the last run ended
  int workers = 0;     ///< runs at once
  TimeSpent by_runs;   ///< of all workers together
  double report = 0;   ///< wall-clock seconds of tables, figures and page
  double figures = 0;  ///< of them, drawing
};

/// "4m 12s: runs 4m 03s (2 at once: training 71 %, looks for events 9 %, …, beside 4 %),
/// tables and page 0.4 s, figures 8.1 s". "Beside" is what workers did not note: starting,
/// reading, writing, waiting for the last one.
std::string time_text(const SweepTime& time);

}  // namespace difflab::sweep
