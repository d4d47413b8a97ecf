#include "sweep/standing.h"

#include <algorithm>
#include <utility>

#include "sweep/launcher/launcher_config.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::sweep {
int Standings::count(RunState state) const {
  return static_cast<int>(std::ranges::count_if(
      runs, [&](const Standing& standing) { return standing.state == state; }));
}

int Standings::complete() const { return count(RunState::kFinished) + count(RunState::kDiverged); }

std::vector<Run> Standings::abandoned() const {
  std::vector<Run> found;
  for (const auto& standing : runs) {
    const bool is_in_hand = standing.state == RunState::kRunning || standing.task;
    if (!is_complete(standing.state) && !is_in_hand) found.push_back(standing.run);
  }
  return found;
}

Standing standing_of(const Run& run) {
  auto found = difflab::standing_of(run.directory);
  return {.run = run,
          .state = found.state,
          .position = position_of(run.directory),
          .message = std::move(found.message)};
}

Queue queue_of(const std::filesystem::path& folder) {
  Queue queue;
  for (const auto& system : batch_systems()) {
    const auto submitted = system->submissions_of(folder);
    std::vector<std::string> names;
    std::map<std::string, const Submission*> by_name;
    for (const auto& array : submitted) {
      names.push_back(array.name);
      by_name[array.name] = &array;
    }
    std::vector<QueuedTask> tasks;
    try {
      tasks = system->queued_tasks(names);
    } catch (const UserError& error) {
      queue.silence = queue.silence ? concat(*queue.silence, "\n", error.what()) : error.what();
    }
    for (const auto& task : tasks) {
      const auto& array = *by_name.at(task.name);
      for (const auto& run : share_of(array.runs, task.index, array.tasks)) {
        queue.of_run.insert_or_assign(run.id, task);
      }
    }
    queue.tasks.insert(queue.tasks.end(), tasks.begin(), tasks.end());
  }
  return queue;
}

Standings standings_of(const Plan& plan, const std::filesystem::path& folder) {
  // The queue first: a task that ends between the two looks has then written its results already.
  const auto queue = queue_of(folder);
  Standings standings{.runs = {}, .tasks = queue.tasks, .silence = queue.silence};
  for (const auto& run : plan.runs) {
    auto& standing = standings.runs.emplace_back(standing_of(run));
    const auto task = queue.of_run.find(standing.run.id);
    if (task != queue.of_run.end() && !is_complete(standing.state)) standing.task = task->second;
  }
  return standings;
}

}  // namespace difflab::sweep
