#include "record/status.h"

#include <algorithm>
#include <array>
#include <utility>

#include "record/lease.h"
#include "util/error.h"
#include "util/files.h"

namespace difflab {
namespace {

// A status can be anything; a run that names itself as its stage must not keep a reader for ever.
constexpr int kMostStages = 16;

// In the order of RunState.
constexpr std::array<std::string_view, 6> kStateNames = {"new",    "running",  "interrupted",
                                                         "failed", "diverged", "finished"};

// A full disk must not end a run for the sake of its news.
void replace_status(const RunDirectory& run, const Json& status) {
  try {
    write_file_in_place(run.status(), dump_readable(status) + "\n");
  } catch (const UserError&) {
  }
}

RunPosition position_of(const RunDirectory& run, int most_stages) {
  const auto status = read_status(run);
  if (!status) return {};
  const auto number = [&](const char* key) -> std::int64_t {
    const auto found = status->find(key);
    const bool counts = found != status->end() && found->is_number_integer();
    return counts ? std::max<std::int64_t>(found->get<std::int64_t>(), 0) : 0;
  };
  RunPosition position{.step = number("step"), .steps = number("steps")};
  position.before = position.stages = number("stages");
  const auto stage = status->find("stage");
  if (stage != status->end() && stage->is_string() && most_stages > 0) {
    const auto there = position_of({run.path / stage->get<std::string>()}, most_stages - 1);
    position.before = std::min(there.done(), position.stages);
  }
  return position;
}

RunStanding standing_by(const RunDirectory& run, std::optional<Json> result) {
  if (result) {
    const bool diverged = string_at(*result, "status") == name_of(RunState::kDiverged);
    return {.state = diverged ? RunState::kDiverged : RunState::kFinished,
            .result = std::move(result)};
  }
  if (looks_taken(run)) return {.state = RunState::kRunning};
  // It may have been finished and given back since.
  if (auto late = read_result(run)) return standing_by(run, std::move(late));
  const auto status = read_status(run);
  if (!status) return {};
  const bool has_failed = string_at(*status, "state") == name_of(RunState::kFailed);
  if (!has_failed) return {.state = RunState::kInterrupted};
  const auto message = string_at(*status, "message");
  return {.state = RunState::kFailed,
          .message = message.empty() ? "ended without a result" : message};
}

}  // namespace

std::string_view name_of(RunState state) { return kStateNames.at(static_cast<std::size_t>(state)); }

std::optional<RunState> run_state_of(std::string_view name) {
  const auto found = std::ranges::find(kStateNames, name);
  if (found == kStateNames.end()) return std::nullopt;
  return static_cast<RunState>(found - kStateNames.begin());
}

RunStanding standing_of(const RunDirectory& run) {
  try {
    return standing_by(run, read_result(run));
  } catch (const UserError& error) {
    return {.state = RunState::kFailed, .message = error.what()};
  }
}

RunState state_of(const RunDirectory& run) { return standing_by(run, read_result(run)).state; }

bool note_in_status(const RunDirectory& run, const std::string& failure) {
  auto status = read_status(run).value_or(Json::object());
  const bool is_said = string_at(status, "state") == name_of(RunState::kFailed) &&
                       string_at(status, "message") == failure;
  if (is_said || looks_taken(run)) return false;
  status["state"] = name_of(RunState::kFailed);
  status["message"] = failure;
  replace_status(run, status);
  return true;
}

RunPosition position_of(const RunDirectory& run) { return position_of(run, kMostStages); }

void write_status(const RunDirectory& run, RunState state, const RunPosition& position,
                  std::string_view message, const std::string& stage) {
  Json status = {{"state", name_of(state)}, {"step", position.step}, {"steps", position.steps}};
  if (position.stages > 0) status["stages"] = position.stages;
  if (!stage.empty()) status["stage"] = stage;
  if (!message.empty()) status["message"] = message;
  replace_status(run, status);
}

}  // namespace difflab
