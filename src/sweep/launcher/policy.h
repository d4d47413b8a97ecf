#pragma once

#include <cstdint>

namespace difflab::sweep {

/// Which runs start first.
enum class RunOrder { kLongest, kShortest, kListed };

/// The rules of an execution.
struct Policy {
  /// How often a run is tried again when it was killed or its launcher was lost. A run that fails
  /// by itself (exit codes 1, 2, 70), or breaks one of the limits, would do so again and is not.
  int retries = 2;
  std::int64_t memory_mb = 0;  ///< of one run, its own pages, looked at twice a second; 0: no limit
  double timeout_seconds = 0;  ///< of one run in this execution; 0: no limit
  bool fail_fast = false;  ///< the first failure stops everything; running runs save their state
  RunOrder order = RunOrder::kLongest;
  double stop_grace_seconds = 60;  ///< for runs to save their state after the first stop signal
  double late_grace_seconds = 10;  ///< the same for a run that is over its time
};

}  // namespace difflab::sweep
