#pragma once

#include <string>

#include "record/log/time_spent.h"

namespace difflab::sweep {

/// Where the time of a sweep went.
struct SweepTime {
  double runs = 0;     ///< wall-clock seconds until the last run ended
  int workers = 0;     ///< runs at once
  TimeSpent by_runs;   ///< of all workers together
  double report = 0;   ///< wall-clock seconds of tables, figures and page
  double figures = 0;  ///< of them, drawing
};

/// "4m 12s: runs 4m 03s (2 at once: training 71 %, event checks 9 %, …, other 4 %), tables and
/// page 0.4s, figures 8.1s". "Other" is what no session noted: starting, reading, writing, waiting
/// for the last run, and runs that were killed.
std::string time_text(const SweepTime& time);

}  // namespace difflab::sweep
