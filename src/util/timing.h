#pragma once

#include <chrono>
#include <functional>
#include <optional>
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

/// Measures the load of other processes on the machine, from the construction of this object on.
class OtherLoad {
 public:
  OtherLoad();

  /// The mean number of cores that other processes have kept busy since, and that a hypervisor took
  /// away; nothing if the system does not say. The system counts in hundredths of a second.
  std::optional<double> cores() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  std::optional<double> machine_;  // seconds
  double own_;                     // seconds
};

}  // namespace difflab
