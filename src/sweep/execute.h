#pragma once

#include <string>
#include <vector>

#include "record/log/event_log.h"
#include "sweep/launcher/launcher.h"
#include "sweep/plan/plan.h"

namespace difflab::sweep {

/// Receives the events of a sweep; does nothing here, informs a person in progress.h.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void started(const Run&) {}
  /// The state: finished or diverged.
  virtual void completed(const Run&, RunState) {}
  virtual void failed(const Run&, const std::string& /*message*/) {}
  /// The attempt-th new try of at most `most`.
  virtual void retried(const Run&, const std::string& /*reason*/, int /*attempt*/, int /*most*/) {}
  /// A machine that should have begun a run does not answer; the run waits for another.
  virtual void unreachable(const std::string& /*reason*/) {}
  /// All that is left is in the hands of others, of whom one is `holder`; what one that says
  /// nothing any more held comes back after `silence`.
  virtual void waiting(std::size_t /*runs*/, const std::string& /*holder*/, double /*silence*/) {}
  virtual void stopping() {}
  /// Called several times a second with the runs that execute now.
  virtual void tick(const std::vector<const Run*>&) {}
};

struct Failure {
  Run run;
  std::string message;
};

struct SweepOutcome {
  int completed = 0;   ///< runs that have their result now and had none before
  int unfinished = 0;  ///< neither completed nor failed, because the execution was stopped
  std::vector<Failure> failures;  ///< in sweep order
  bool interrupted = false;
  TimeSpent spent = {};  ///< by the jobs of this execution, however they ended
};

/// Executes the runs that have no result yet, by default the longest first, as many at once as the
/// launcher takes, until all have ended or a stop signal came (util/process.h: the caller keeps a
/// StopSignals): the first lets them save their state, the second kills them. A run that another
/// sweep on the same folder is at is left to it and looked at again when that ends.
/// @throws UserError if runs cannot be executed at all.
SweepOutcome execute(const std::vector<Run>& runs, Launcher& launcher, Observer& observer,
                     const Policy& policy = {});

}  // namespace difflab::sweep
