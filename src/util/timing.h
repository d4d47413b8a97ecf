#pragma once

#include <functional>
#include <vector>

namespace difflab {

/// Wall-clock seconds of one call.
double seconds_of(const std::function<void()>& run);

struct Spread {
  double median, low, high;  ///< quartiles
};
Spread spread_of(std::vector<double> samples);

}  // namespace difflab
