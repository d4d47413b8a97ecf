#include "record/status.h"

#include "record/lease.h"
#include "util/error.h"
#include "util/files.h"

namespace difflab {

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::kNew:
      return "new";
    case RunState::kRunning:
      return "running";
    case RunState::kInterrupted:
      return "interrupted";
    case RunState::kFailed:
      return "failed";
    case RunState::kDiverged:
      return "diverged";
    case RunState::kFinished:
      return "finished";
  }
  return "unknown";
}

std::optional<RunState> run_state_of(std::string_view name) {
  for (const auto state : {RunState::kNew, RunState::kRunning, RunState::kInterrupted,
                           RunState::kFailed, RunState::kDiverged, RunState::kFinished}) {
    if (name == name_of(state)) return state;
  }
  return std::nullopt;
}

RunState state_of_result(const Json& result) {
  const auto status = result.find("status");
  const bool diverged = status != result.end() && *status == name_of(RunState::kDiverged);
  return diverged ? RunState::kDiverged : RunState::kFinished;
}

RunState state_of(const RunDirectory& run) {
  if (const auto result = read_result(run)) return state_of_result(*result);
  if (looks_taken(run)) return RunState::kRunning;
  const auto status = read_status(run);
  if (!status) return RunState::kNew;
  return status->value("state", "") == name_of(RunState::kFailed) ? RunState::kFailed
                                                                  : RunState::kInterrupted;
}

void write_status(const RunDirectory& run, RunState state, std::int64_t step, std::int64_t steps,
                  std::string_view message) {
  Json status = {{"state", name_of(state)}, {"step", step}, {"steps", steps}};
  if (!message.empty()) status["message"] = message;
  try {
    write_file_in_place(run.status(), status.dump() + "\n");
  } catch (const UserError&) {  // a full disk must not end a run for the sake of its news
  }
}

}  // namespace difflab
