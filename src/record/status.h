#pragma once

#include <cstdint>
#include <optional>
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

/// Overwrites status.json: {"state", "step", "steps", "message"?}. News for people and launchers;
/// the truth about a finished run is its result.json. Overwritten in place and not synced, so it is
/// cheap.
void write_status(const RunDirectory& run, RunState state, std::int64_t step, std::int64_t steps,
                  std::string_view message = "");

}  // namespace difflab
