#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab {

/// Where a run stands.
enum class RunState {
  kNew,          ///< never started
  kRunning,      ///< somebody is at it right now
  kInterrupted,  ///< started and stopped or killed; goes on from its checkpoint
  kFailed,       ///< ended with an error, or its result cannot be read
  kDiverged,     ///< has its result: the loss became NaN or infinite
  kFinished,     ///< has its result
};

std::string_view name_of(RunState state);  ///< "new", "running", …

/// The state of this name, as status.json and result.json have it; none if it is unknown.
std::optional<RunState> run_state_of(std::string_view name);

constexpr bool is_complete(RunState state) {
  return state == RunState::kFinished || state == RunState::kDiverged;
}

/// Where a run stands, the same for every command, table and page: what its result says, without
/// one who holds its lease, and if nobody does what its status says. A status alone proves nothing:
/// a run that was killed has left the one that it had.
struct RunStanding {
  RunState state = RunState::kNew;
  std::string message = {};         ///< why it failed
  std::optional<Json> result = {};  ///< if it is complete
};

/// Reads the run's files and changes nothing. A result that cannot be read is a failure.
RunStanding standing_of(const RunDirectory& run);

/// Its state, for who decides by it.
/// @throws UserError if there is a result that cannot be read or is of another version.
RunState state_of(const RunDirectory& run);

/// Notes in the status of a run that nobody is at why it failed: one that was killed could not say
/// so. False if the status says that already, or somebody is at the run.
bool note_in_status(const RunDirectory& run, const std::string& failure);

/// How far a run is, in training steps.
struct RunPosition {
  std::int64_t step = 0;    ///< of its own training
  std::int64_t steps = 0;   ///< that its own training has
  std::int64_t before = 0;  ///< of its stages, all or as many as are done
  std::int64_t stages = 0;  ///< that its stages have

  std::int64_t done() const { return before + step; }
  std::int64_t all() const { return stages + steps; }
};

/// Position that status.json gives; zeros if it gives none. While a stage trains, the stage's own
/// status is read, too.
RunPosition position_of(const RunDirectory& run);

/// Overwrites status.json: {"state", "step", "steps", "stages"?, "stage"?, "message"?}. News for
/// people and launchers; the truth about a finished run is its result.json. Overwritten in place
/// and not synced, so it is cheap. `stage` is the folder of the stage that trains now, as seen from
/// the run's.
void write_status(const RunDirectory& run, RunState state, const RunPosition& position,
                  std::string_view message = "", const std::string& stage = "");

}  // namespace difflab
