#pragma once

#include <cstdint>
#include <string_view>

#include "record/run_directory.h"

namespace difflab {

enum class RunState { kRunning, kInterrupted, kFailed, kDiverged, kFinished };

std::string_view name_of(RunState state);

/// Overwrites status.json: {"state", "step", "steps", "message"?}. News for people and launchers;
/// the truth about a finished run is its result.json. Overwritten in place and not synced, so it is
/// cheap.
void write_status(const RunDirectory& run, RunState state, std::int64_t step, std::int64_t steps,
                  std::string_view message = "");

}  // namespace difflab
