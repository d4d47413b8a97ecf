#include "record/status.h"

#include "util/error.h"
#include "util/files.h"

namespace difflab {

std::string_view name_of(RunState state) {
  switch (state) {
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
