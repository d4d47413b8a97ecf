#pragma once

#include <chrono>
#include <optional>

namespace difflab {

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
