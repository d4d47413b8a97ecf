#include "study/jobs.h"

#include <fmt/format.h>

#include <iostream>
#include <map>

#include "config/schema/reader.h"
#include "config/value/yaml.h"
#include "study/project.h"
#include "study/study.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::study {
namespace {

namespace fs = std::filesystem;

std::string shown(const fs::path& folder) {
  return quoted_for_shell(config::shown_path(fs::absolute(folder).lexically_normal()));
}

std::string queue_text(const std::vector<sweep::QueuedTask>& tasks) {
  std::map<std::string, int> counts;
  for (const auto& task : tasks) {
    const bool waits = task.state == "PENDING" && task.reason != "None";
    ++counts[waits ? concat(task.state, " (", task.reason, ")") : task.state];
  }
  std::vector<std::string> words;
  for (const auto& [state, count] : counts) words.push_back(concat(count, " ", state));
  return words.empty() ? "empty" : join(words);
}

std::string command_text(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{concat(program_name(), project_option())};
  for (const auto& word : arguments) words.push_back(quoted_for_shell(word));
  return join(words, " ");
}

std::string run_line(const sweep::Standing& standing) {
  std::string line = fmt::format("  {:<40} {}", standing.run.label(), name_of(standing.state));
  if (const auto all = standing.position.all(); all > 0) {
    line += fmt::format("  step {}/{}", standing.position.done(), all);
  }
  if (standing.task) {
    line += fmt::format("  task {}_{} {}", standing.task->job, standing.task->index,
                        standing.task->state);
  }
  if (standing.state == RunState::kFailed) {
    line += fmt::format("\n    {}", standing.message.substr(0, standing.message.find('\n')));
  }
  return line + "\n";
}

}  // namespace

// JSON is YAML, and the reader of the configuration checks it once more.
sweep::LauncherConfig launcher_of(const sweep::Plan& plan) {
  return config::read<sweep::LauncherConfig>(config::parse_yaml(plan.launcher.dump(), "plan.json"),
                                             "launcher");
}

void submit_missing(const sweep::Plan& plan, const fs::path& folder) {
  const auto system = sweep::batch_system(launcher_of(plan));
  if (!system) {
    throw UserError(concat(
        "this sweep was not frozen for a batch system; ./difflab work FOLDER executes it, the "
        "sweep command with launcher=",
        sweep::batch_kinds(), " submits it"));
  }
  sweep::states_of(plan.runs);  // damaged results are better known now than in every task
  const auto standings = sweep::standings_of(plan, folder);
  if (standings.silence) {
    throw UserError(concat(*standings.silence, "\nwithout its queue nobody knows which runs ",
                           system->name(), " still has; nothing was submitted"));
  }
  auto missing = plan;
  missing.runs = standings.abandoned();
  for (const auto& array : system->submit(missing, folder, executable_path())) {
    std::cout << fmt::format("submitted  job {}: {} runs in {} tasks\n", array.job,
                             array.runs.size(), array.tasks);
  }
  if (missing.runs.empty()) std::cout << "nothing to submit: every run is done or in hand\n";
  std::cout << fmt::format("follow it  {1} status {0}   (also wait, logs -f, cancel, resume)\n",
                           shown(folder), program_name());
}

std::string standings_text(const sweep::Plan& plan, const sweep::Standings& standings,
                           const fs::path& folder) {
  std::vector<std::string> counts;
  for (const auto state : {RunState::kFinished, RunState::kDiverged, RunState::kRunning,
                           RunState::kInterrupted, RunState::kFailed, RunState::kNew}) {
    if (const int count = standings.count(state); count > 0) {
      counts.push_back(concat(count, " ", name_of(state)));
    }
  }
  std::string text = fmt::format("experiment {} (preset {})\nruns       {}: {}\n", plan.experiment,
                                 plan.preset, plan.runs.size(), join(counts));
  if (standings.silence) {
    text += fmt::format("queue      unknown: {}\n", *standings.silence);
  } else if (!standings.tasks.empty()) {
    text += fmt::format("queue      {}\n", queue_text(standings.tasks));
  }
  for (const auto& standing : standings.runs) {
    if (!is_complete(standing.state)) text += run_line(standing);
  }
  if (standings.complete() == static_cast<int>(plan.runs.size())) {
    text += plan.more.empty() ? "all runs are finished; "
                              : fmt::format("these runs are all finished; more may follow: {}\n",
                                            command_text(plan.more));
    text += fmt::format("tables and report: {}\n", command_text(plan.report));
  } else if (const auto abandoned = standings.abandoned(); !abandoned.empty()) {
    const bool known = !standings.silence;
    text +=
        fmt::format("{} unfinished runs have no process{}\n", abandoned.size(),
                    known ? fmt::format("; {} {} {}", program_name(),
                                        sweep::batch_system(launcher_of(plan)) ? "resume" : "work",
                                        shown(folder))
                          : ", or are in a queue that does not answer");
  }
  return text;
}

std::string standings_json(const sweep::Plan& plan, const sweep::Standings& standings) {
  Json runs = Json::array();
  for (const auto& standing : standings.runs) {
    Json run = {{"id", standing.run.id},
                {"axes", Json(std::map<std::string, std::string>(standing.run.axes.begin(),
                                                                 standing.run.axes.end()))},
                {"state", name_of(standing.state)},
                {"step", standing.position.done()},
                {"steps", standing.position.all()},
                {"directory", standing.run.directory.path.string()},
                {"task", nullptr}};
    if (!standing.message.empty()) run["message"] = standing.message;
    if (standing.task) {
      run["task"] = {{"job", standing.task->job},
                     {"index", standing.task->index},
                     {"state", standing.task->state},
                     {"reason", standing.task->reason}};
    }
    runs.push_back(run);
  }
  Json json = {{"experiment", plan.experiment},
               {"preset", plan.preset},
               {"runs", runs},
               {"tasks_in_queue", standings.tasks.size()},
               {"queue_silent", nullptr}};
  if (standings.silence) json["queue_silent"] = *standings.silence;
  return json.dump(1) + "\n";
}

}  // namespace difflab::study
