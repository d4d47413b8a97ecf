#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/schema/fields.h"
#include "config/value/value.h"
#include "sweep/launcher/launcher.h"

namespace difflab {

template <>
inline constexpr auto config::kNames<sweep::RunOrder> = names("longest", "shortest", "listed");

}  // namespace difflab

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

/// Runs on this machine, as children of one `difflab-worker serve` process. That process loads
/// LibTorch once and forks a child per run, so that a run starts in milliseconds and a crash takes
/// only its own run. If it is killed itself, the next run starts another.
struct LocalLauncher {
  static constexpr std::string_view kKind = "local";
  static constexpr std::string_view kAbout = "worker processes on this machine";

  WorkerCount workers = {};
  std::int64_t retries = 2;
  std::int64_t memory_mb = 0;
  double timeout_seconds = 0;
  bool fail_fast = false;
  RunOrder order = RunOrder::kLongest;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("workers", workers, "runs at the same time; auto: cores / threads per run");
    visit("retries", retries, "how often a run that was killed is tried again",
          config::between(0, 1000));
    visit(
        "memory_mb", memory_mb,
        "memory of one run in MiB, without what all runs share; one that takes more is killed and "
        "has failed; 0 for no limit",
        config::at_least(0));
    visit("timeout_seconds", timeout_seconds,
          "time of one run; one that takes longer saves its state and has failed; 0 for no limit",
          config::at_least(0));
    visit("fail_fast", fail_fast, "stop everything at the first run that fails");
    visit("order", order, "which runs start first: longest, shortest, or as listed");
  }

  /// Bytes that a run may take.
  double memory_of_run() const;
  Policy policy() const {
    return {static_cast<int>(retries), memory_mb, timeout_seconds, fail_fast, order};
  }
  /// `worker`: the difflab-worker program. Where runs are fewer than the cores hold, each may use
  /// more of them to evaluate.
  std::unique_ptr<Launcher> build(const std::filesystem::path& worker, int threads_per_run,
                                  std::size_t runs) const;
};

}  // namespace difflab::sweep
