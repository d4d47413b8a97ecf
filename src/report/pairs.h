#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/frame.h"

namespace difflab::report {

/// A metric of runs that agree in everything but the compared axes, ours minus theirs.
struct Pairs {
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> differences;
  std::size_t censored = 0;  ///< pairs of which one is known only to exceed a bound
};

/// Pairs the runs of `ours` with those of `theirs` on equal values of all axes but `compared`: the
/// same seed, and so the same data and the same start.
Pairs pair_runs(const Frame& frame, const std::vector<const FrameRun*>& ours,
                const std::vector<const FrameRun*>& theirs,
                const std::vector<std::string>& compared, const std::string& metric);

}  // namespace difflab::report
