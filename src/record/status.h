#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab {

/// What the files of a run say about it.
enum class RunState {
  kNew,          ///< never started
  kRunning,      ///< somebody is at it right now
  kInterrupted,  ///< started and stopped or killed; goes on from its checkpoint
  kFailed,       ///< ended with an error; runs again
  kDiverged,     ///< has its result: the loss became NaN or infinite
  kFinished,     ///< has its result
};

std::string_view name_of(RunState state);  ///< "new", "running", …

/// Of a name, as status.json and result.json have it.
std::optional<RunState> run_state_of(std::string_view name);

constexpr bool is_complete(RunState state) {
  return state == RunState::kFinished || state == RunState::kDiverged;
}

/// Of a result: diverged or finished.
RunState state_of_result(const Json& result);

/// Reads the run's files and changes nothing.
/// @throws UserError if there is a result that cannot be read or is of another version.
RunState state_of(const RunDirectory& run);

/// How far a run is, in training steps.
struct RunPosition {
  std::int64_t step = 0;    ///< of its own training
  std::int64_t steps = 0;   ///< that its own training has
  std::int64_t before = 0;  ///< of its stages, all or as many as are done
  std::int64_t stages = 0;  ///< that its stages have

  std::int64_t done() const { return before + step; }
  std::int64_t all() const { return stages + steps; }
};

/// What status.json says; zeros if it says nothing. While a stage trains, the stage's own status is
/// looked at, too.
RunPosition position_of(const RunDirectory& run);

/// Overwrites status.json: {"state", "step", "steps", "stages"?, "stage"?, "message"?}. News for
/// people and launchers; the truth about a finished run is its result.json. Overwritten in place
/// and not synced, so it is cheap. `stage` is the folder of the stage that trains now, as seen from
/// the run's.
void write_status(const RunDirectory& run, RunState state, const RunPosition& position,
                  std::string_view message = "", const std::string& stage = "");

}  // namespace difflab
