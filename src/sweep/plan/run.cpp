#include "sweep/plan/run.h"

#include <set>

#include "util/error.h"
#include "util/text.h"

namespace difflab::sweep {

std::string Run::label() const {
  std::vector<std::string> words;
  for (const auto& [axis, value] : axes) words.push_back(concat(axis, "=", value));
  return words.empty() ? id : join(words, " ");
}

std::vector<RunState> states_of(const std::vector<Run>& runs) {
  std::vector<RunState> states;
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
