#include "sweep/plan/run.h"

#include <set>

#include "record/lease.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::sweep {

std::string Run::label() const {
  std::vector<std::string> words;
  for (const auto& [axis, value] : axes) words.push_back(concat(axis, "=", value));
  return words.empty() ? id : join(words, " ");
}

std::string_view name_of(PlanState state) {
  switch (state) {
    case PlanState::kNew:
      return "new";
    case PlanState::kInterrupted:
      return "interrupted";
    case PlanState::kFailed:
      return "failed";
    case PlanState::kRunning:
      return "running";
    case PlanState::kFinished:
      return "finished";
    case PlanState::kDiverged:
      return "diverged";
  }
  return "unknown";
}

PlanState state_of(const RunDirectory& run) {
  if (const auto result = read_result(run)) {
    return result->value("status", "") == "diverged" ? PlanState::kDiverged : PlanState::kFinished;
  }
  if (looks_taken(run)) return PlanState::kRunning;
  const auto status = read_status(run);
  if (!status) return PlanState::kNew;
  return status->value("state", "") == "failed" ? PlanState::kFailed : PlanState::kInterrupted;
}

std::vector<PlanState> states_of(const std::vector<Run>& runs) {
  std::vector<PlanState> states;
  std::vector<std::string> problems;
  for (const auto& run : runs) {
    try {
      states.push_back(state_of(run.directory));
    } catch (const UserError& error) {
      problems.emplace_back(error.what());
    }
  }
  if (!problems.empty()) throw UserError(join(problems, "\n"));
  return states;
}

std::vector<Run> distinct(const std::vector<Run>& points) {
  std::vector<Run> runs;
  std::set<std::string> seen;
  for (const auto& point : points) {
    if (seen.insert(point.id).second) runs.push_back(point);
  }
  return runs;
}

}  // namespace difflab::sweep
