#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace difflab {

/// Wall-clock seconds of one call.
double seconds_of(const std::function<void()>& run);

/// Adds its lifetime in wall-clock seconds to `seconds`.
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

struct Spread {
  double median, low, high;  ///< quartiles
};
Spread spread_of(std::vector<double> samples);

}  // namespace difflab
