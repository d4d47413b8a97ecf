#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweep/halving.h"
#include "sweep/launcher.h"
#include "sweep/run.h"

namespace difflab::sweep {

/// What a sweep tells about itself while it goes on; progress.h shows it to a person.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void started(const Run& run) = 0;
  /// `state`: finished or diverged.
  virtual void completed(const Run& run, PlanState state) = 0;
  virtual void failed(const Run& run, const std::string& message) = 0;
  /// The attempt-th new try of at most `most`.
  virtual void retried(const Run& run, const std::string& reason, int attempt, int most) = 0;
  /// A search (halving.h) does not need the run any more; its state is kept.
  virtual void dropped(const Run& run) = 0;
  virtual void stopping() = 0;
  /// Called several times a second with the runs that execute now.
  virtual void tick(const std::vector<const Run*>& running) = 0;
};

struct Failure {
  Run run;
  std::string message;
};

struct SweepOutcome {
  int completed = 0;   ///< runs that have their result now and had none before
  int dropped = 0;     ///< not needed by the search
  int unfinished = 0;  ///< neither completed nor failed, because the execution was stopped
  std::vector<Failure> failures;  ///< in sweep order
  bool interrupted = false;
};

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
};

/// Executes the runs that have no result yet, by default the longest first, as many at once as the
/// launcher takes, until all have ended or a stop signal came (util/process.h: the caller keeps a
/// StopSignals): the first lets them save their state, the second kills them. A run that another
/// sweep on the same folder is at is left to it and looked at again when that ends.
/// @param search if not null, decides which runs pause and which are dropped; it knows all of
/// `runs`
/// @throws UserError if runs cannot be executed at all, or if the search cannot be done.
SweepOutcome execute(const std::vector<Run>& runs, Launcher& launcher, Observer& observer,
                     const Policy& policy = {}, Halving* search = nullptr);

}  // namespace difflab::sweep
