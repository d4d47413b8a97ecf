#pragma once

#include <optional>
#include <string>

namespace difflab::config {
class Value;
}

namespace difflab::sweep {

/// `workers: auto` or a number: how many runs execute at the same time.
struct WorkerCount {
  std::optional<int> number;  ///< nothing: auto

  /// The number, or for auto as many as the cores we may use hold runs of `threads_per_run`.
  int resolve(int threads_per_run) const;

  static std::optional<WorkerCount> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() { return "auto or a whole number from 1 to 1024"; }
  bool operator==(const WorkerCount&) const = default;
};

/// Cores this process may use: its CPU affinity, cut to the CPU quota of its container.
int usable_cores();

/// Bytes of memory of this machine, cut to the limit of its container.
double memory_of_machine();

}  // namespace difflab::sweep
