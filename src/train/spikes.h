#pragma once

#include <cstdint>
#include <deque>

namespace difflab {

/// Counts the steps whose gradient norm stands out: more than 5 × the median of the steps before
/// it, of the last 100, once 20 are known.
struct SpikeCounter {
  static constexpr double kFactor = 5;
  static constexpr std::size_t kWindow = 100, kFewest = 20;

  std::int64_t count = 0;
  std::deque<double> recent;  ///< norms of the last steps, oldest first

  void add(double grad_norm);
};

}  // namespace difflab
