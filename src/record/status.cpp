#include "record/status.h"

#include <cstdio>
#include <fstream>

#include "util/text.h"

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
  const auto temporary = (run.path / ".status.json.tmp").string();
  std::remove(temporary.c_str());  // a link there would lead elsewhere
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << status.dump() << '\n';
    if (!file) return;  // a full disk must not end a run for the sake of its news
  }
  std::rename(temporary.c_str(), run.status().c_str());
}

}  // namespace difflab
