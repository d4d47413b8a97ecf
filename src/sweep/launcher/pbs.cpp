#include "sweep/launcher/pbs.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBetween = "\x1f";  // fields of qstat, whose values have commas and bars

// Exit codes of qstat for a job that has ended since qselect printed it; the others are printed.
constexpr int kUnknownJob = 153, kFinishedJob = 35;

// The number that a text begins with.
int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// As QueuedTask has it; empty for tasks that have ended.
std::string state_named(const std::string& letter) {
  if (letter.empty() || letter == "X" || letter == "F" || letter == "M") return {};
  if (letter == "R" || letter == "S" || letter == "U") return "RUNNING";
  return letter == "E" ? "COMPLETING" : "PENDING";
}

// The task of one of these arrays that a line of qstat is about:
// "Job Id: 12[3].server|Job_Name=…|…|job_state=R|…|comment=…" with another sign between.
std::optional<QueuedTask> task_in(const std::string& line, const std::vector<std::string>& names) {
  std::map<std::string, std::string> fields;
  for (const auto& field : split(line, kBetween[0])) {
    const auto end = field.find_first_of(":=");
    if (end != field.npos) fields.emplace(field.substr(0, end), field.substr(end + 1));
  }
  const auto is_array = [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  auto& id = fields["Job Id"];
  QueuedTask task{.name = fields["Job_Name"],
                  .job = id.substr(std::min<std::size_t>(1, id.size())),
                  .index = 0,
                  .state = state_named(fields["job_state"]),
                  .reason = fields["comment"]};
  const auto bracket = task.job.find('['), point = task.name.rfind('.');
  const bool is_whole_array = task.job.find("[]") != task.job.npos;
  if (task.state.empty() || is_whole_array) return std::nullopt;
  if (is_array(task.name)) {
    if (bracket != task.job.npos) {
      task.index = number_in(task.job.substr(bracket + 1));
      task.job.erase(bracket + 1, task.job.find(']') - bracket - 1);
    }
    return task;
  }
  if (point == task.name.npos || !is_array(task.name.substr(0, point))) return std::nullopt;
  task.index = number_in(task.name.substr(point + 1));
  task.name.resize(point);
  return task;
}

/// OpenPBS, asked through its commands. Only its operators may put a job back into the queue, so
/// the task I of the array NAME continues as a job of its own, NAME.I.
class Pbs final : public JobArrays {
 public:
  explicit Pbs(PbsLauncher config) : JobArrays(config.kKind, config), config_(std::move(config)) {}

  std::string name() const override { return "PBS"; }

  std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& names) const override {
    std::vector<QueuedTask> tasks;
    if (names.empty()) return tasks;
    const auto* user = ::getpwuid(::geteuid());
    if (user == nullptr) throw UserError(concat("user ", ::geteuid(), " has no name for qselect"));
    // As JSON, qstat prints the first job alone.
    std::vector<std::string> argv{"qstat", "-t", "-f", "-F", "dsv", "-D", kBetween};
    const auto options = argv.size();
    for (const auto& id : split(output_of({"qselect", "-u", user->pw_name}, OnStop::kKill), '\n')) {
      if (!id.empty()) argv.push_back(id);
    }
    if (argv.size() == options) return tasks;
    const auto printed = run_program(argv, OnStop::kKill);
    const auto code = printed.status.code;
    if (!printed.status.success() && code != kUnknownJob && code != kFinishedJob) {
      throw UserError(concat("qstat: ", last_line(printed.errors)));
    }
    for (const auto& line : split(printed.output, '\n')) {
      if (const auto task = task_in(line, names)) tasks.push_back(*task);
    }
    return tasks;
  }

  void cancel(const std::vector<std::string>& jobs) const override {
    if (jobs.empty()) return;
    std::vector<std::string> argv{"qdel"};
    argv.insert(argv.end(), jobs.begin(), jobs.end());
    output_of(argv);
  }

  bool requeue_own_task() const override {
    const fs::path folder = environment("DIFFLAB_ARRAY");
    const auto index = environment("DIFFLAB_TASK");
    if (environment("PBS_JOBID").empty() || index.empty()) return false;
    auto argv =
        Json::parse(read_file(folder / "job.json")).at("qsub").get<std::vector<std::string>>();
    std::ranges::find(argv, "-N")[1] += concat(".", index);
    if (const auto range = std::ranges::find(argv, "-J"); range != argv.end()) {
      argv.erase(range, range + 2);
    }
    argv.push_back(index);
    argv.push_back(std::to_string(own_restarts() + 1));
    output_of(argv);
    return true;
  }

  int own_restarts() const override { return number_in(environment("DIFFLAB_RESTARTS")); }

 private:
  std::vector<std::string> submit_command(const Submission& array, std::int64_t threads,
                                          const std::string& device) const override {
    const auto workers = config_.workers_of_task();
    auto chunk =
        concat("select=1:ncpus=", workers * threads, ":mem=", workers * config_.memory_mb, "mb");
    if (device == "cuda" && config_.gpus > 0) chunk += concat(":ngpus=", config_.gpus);
    if (!config_.chunk.empty()) chunk += concat(":", config_.chunk);
    std::vector<std::string> argv{
        "qsub", "-N", array.name,  "-r", "y",   "-V", "-j",
        "oe",   "-o", "/dev/null", "-l", chunk, "-l", concat("walltime=", 60 * config_.minutes)};
    const auto add = [&](const char* option, const std::string& value) {
      if (!value.empty()) argv.insert(argv.end(), {option, value});
    };
    // An array of one task is no array for qsub.
    if (array.tasks > 1) {
      add("-J", concat("0-", array.tasks - 1,
                       config_.at_once > 0 ? concat("%", config_.at_once) : std::string()));
    }
    add("-q", config_.queue);
    add("-A", config_.account);
    add("-P", config_.project);
    for (const auto& resource : config_.resources) add("-l", resource);
    argv.insert(argv.end(), {"--", "/bin/bash"});
    return argv;
  }

  std::string task_script() const override {
    return concat(R"(#!/bin/bash
# A task of a difflab sweep. Arguments: difflab, folder, tasks, workers, requeues; of a task that
# continues also its index and how often it has continued.
export DIFFLAB_ARRAY="$2" DIFFLAB_TASK="${6-${PBS_ARRAY_INDEX-0}}" DIFFLAB_RESTARTS="${7-0}"
exec timeout --foreground --preserve-status --signal=USR1 )",
                  60 * config_.minutes - config_.signal_seconds, R"( \
  "$1" work "$2" --share "$DIFFLAB_TASK/$3" --workers "$4" --requeue "$5" \
  >>"$2/task-$DIFFLAB_TASK.txt" 2>&1
)");
  }

  PbsLauncher config_;
};

}  // namespace

void PbsLauncher::validate(config::Check& check) const {
  std::vector<std::pair<std::string, std::string>> texts{
      {"queue", queue}, {"account", account}, {"project", project}, {"chunk", chunk}};
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const auto key = concat("resources[", i, "]");
    texts.emplace_back(key, resources[i]);
    for (const auto& resource : split(resources[i], ',')) {
      const auto name = resource.substr(0, resource.find('='));
      if (name == "select" || name == "walltime") {
        check.problem(key, concat("sets ", name, ", which difflab sets from ",
                                  name == "select" ? "chunk and memory_mb" : "minutes"));
      }
    }
  }
  check_words(check, "qsub", texts);
  JobArrayKeys::validate(check);
}

std::unique_ptr<BatchSystem> PbsLauncher::batch() const { return std::make_unique<Pbs>(*this); }

}  // namespace difflab::sweep
