#include <charconv>
#include <cstdlib>
#include <sstream>

#include "sweep/launcher/slurm_batch.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

std::string ask(const std::vector<std::string>& argv, OnStop on_stop = OnStop::kWait) {
  const auto printed = run_program(argv, on_stop);
  if (printed.status.success()) return printed.output;
  const auto said = last_line(printed.errors);
  throw UserError(concat(argv[0], ": ", said.empty() ? printed.status.text() : said));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::vector<QueuedTask> Slurm::queued_tasks(const std::vector<std::string>& names) const {
  std::vector<QueuedTask> tasks;
  if (names.empty()) return tasks;
  std::istringstream lines(ask({"squeue", "--array", "--noheader", "--format=%j|%F|%K|%T|%r",
                                concat("--name=", join(names, ","))},
                               OnStop::kKill));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    QueuedTask task;
    std::string index;
    if (!std::getline(fields, task.name, '|') || !std::getline(fields, task.job, '|') ||
        !std::getline(fields, index, '|') || !std::getline(fields, task.state, '|')) {
      continue;
    }
    std::getline(fields, task.reason);
    const auto parsed = std::from_chars(index.data(), index.data() + index.size(), task.index);
    if (parsed.ec == std::errc()) tasks.push_back(task);
  }
  return tasks;
}

void Slurm::cancel(const std::vector<std::string>& jobs) const {
  if (jobs.empty()) return;
  std::vector<std::string> argv{"scancel"};
  argv.insert(argv.end(), jobs.begin(), jobs.end());
  ask(argv);
}

bool Slurm::requeue_own_task() const {
  const auto job = environment("SLURM_ARRAY_JOB_ID"), task = environment("SLURM_ARRAY_TASK_ID");
  if (job.empty() || task.empty()) return false;
  ask({"scontrol", "requeue", concat(job, "_", task)});
  return true;
}

int Slurm::own_restarts() const {
  const auto text = environment("SLURM_RESTART_COUNT");
  int count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

}  // namespace difflab::sweep
