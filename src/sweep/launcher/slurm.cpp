#include "sweep/launcher/slurm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "sweep/plan/plan.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

// Options of sbatch that are difflab's own: another value would break its bookkeeping.
constexpr std::array<std::string_view, 15> kOwn = {
    "--array",    "--chdir",    "--clusters",   "--error",     "--export",
    "--input",    "--job-name", "--no-requeue", "--open-mode", "--output",
    "--parsable", "--requeue",  "--signal",     "--test-only", "--wrap"};

// sbatch takes any beginning of a long option that is not ambiguous.
bool is_own(std::string_view option) {
  const auto name = option.substr(0, option.find('='));
  return std::ranges::any_of(
      kOwn, [&](std::string_view own) { return name.size() > 3 && own.starts_with(name); });
}

bool has_control(const std::string& text) {
  return std::ranges::any_of(
      text, [](unsigned char character) { return character < ' ' || character == 0x7f; });
}

std::string ask(const std::vector<std::string>& argv, OnStop on_stop = OnStop::kWait) {
  const auto printed = run_program(argv, on_stop);
  if (printed.status.success()) return printed.output;
  const auto said = last_line(printed.errors);
  throw UserError(concat(argv[0], ": ", said.empty() ? printed.status.text() : said));
}

constexpr int kMaxTasks = 1'000;  // a cluster's MaxArraySize is 1001 if nobody changed it

// No word of the user is in it: what differs comes as arguments, which no shell reads again.
constexpr const char* kScript = R"(#!/bin/bash
# A task of a difflab sweep. Arguments: difflab, folder, tasks, workers, requeues.
exec "$1" work "$2" --share "$SLURM_ARRAY_TASK_ID/$3" --workers "$4" --requeue "$5"
)";

class NoSlurm : public UserError {
 public:
  using UserError::UserError;
};

struct Shape {
  int threads;
  std::string device;
  auto operator<=>(const Shape&) const = default;
};

Shape shape_of(const Run& run) {
  return {run.config.value("threads", 1), run.config.value("device", "cpu")};
}

int task_count(std::size_t runs, std::int64_t runs_per_task) {
  const auto per_task = static_cast<std::size_t>(std::max<std::int64_t>(1, runs_per_task));
  return static_cast<int>((runs + per_task - 1) / per_task);
}

std::string random_word() {
  std::random_device device;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word;
  for (int i = 0; i < 8; ++i) word += kDigits[device() % kDigits.size()];
  return word;
}

// Slurm takes % and \ for its own in some places, commas separate names in lists.
std::string job_name(const std::string& experiment) {
  std::string name = "difflab-";
  for (const char character : experiment) {
    const bool plain = std::isalnum(static_cast<unsigned char>(character)) != 0 ||
                       character == '_' || character == '.';
    name += plain ? character : '-';
  }
  return concat(name.substr(0, 40), "-", random_word());
}

std::vector<std::string> sbatch_arguments(const SlurmLauncher& slurm, const Shape& shape,
                                          const Submission& array) {
  const auto workers = std::min<std::int64_t>(slurm.workers, slurm.runs_per_task);
  std::vector<std::string> argv{
      "sbatch", "--parsable", "--requeue", "--export=ALL", "--open-mode=append",
      // No path is a file name pattern here, where % would mean something.
      concat("--chdir=", array.folder.string()), "--output=task-%a.txt",
      concat("--job-name=", array.name),
      concat("--array=0-", array.tasks - 1,
             slurm.at_once > 0 ? concat("%", slurm.at_once) : std::string()),
      concat("--signal=B:USR1@", slurm.signal_seconds), concat("--time=", slurm.minutes),
      "--nodes=1", "--ntasks=1", concat("--cpus-per-task=", workers * shape.threads),
      concat("--mem=", workers * slurm.memory_mb, "M")};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) argv.push_back(concat(option, value));
  };
  add("--partition=", slurm.partition);
  add("--account=", slurm.account);
  add("--qos=", slurm.qos);
  add("--constraint=", slurm.constraint);
  if (shape.device == "cuda" && slurm.gpus > 0) {
    argv.push_back(concat("--gres=gpu:", slurm.gpus));
  }
  argv.insert(argv.end(), slurm.options.begin(), slurm.options.end());
  return argv;
}

// Slurm's number of the array: "123", or "123;cluster".
std::string submit_array(const SlurmLauncher& slurm, const Shape& shape, const Submission& array,
                         const fs::path& driver) {
  auto argv = sbatch_arguments(slurm, shape, array);
  const auto script = array.folder / "task.sh";
  write_file_atomically(script, kScript);
  const auto workers = std::min(slurm.workers, slurm.runs_per_task);
  for (const auto& word :
       {script.string(), driver.string(), array.folder.string(), std::to_string(array.tasks),
        std::to_string(workers), std::to_string(slurm.max_requeues)}) {
    argv.push_back(word);
  }
  const auto printed = run_program(argv);
  if (printed.status.code == kNoSuchProgram) {
    throw NoSlurm("there is no sbatch in PATH; launcher=slurm needs a machine of the cluster");
  }
  if (!printed.status.success()) {
    throw UserError(concat("sbatch refused the job (", printed.status.text(),
                           "): ", printed.errors.empty() ? "it gave no reason" : printed.errors));
  }
  const auto line = last_line(printed.output);
  const auto job = line.substr(0, line.find(';'));
  if (job.empty() || job.find_first_not_of("0123456789") != job.npos) {
    throw UserError(concat("sbatch printed '", line, "'; expected the number of the job"));
  }
  write_file_atomically(array.folder / "job.json",
                        Json{{"job", job}, {"sbatch", argv}}.dump(1) + "\n");
  return job;
}

// The arrays to submit, not yet on disk.
std::vector<std::pair<Shape, Submission>> arrays_for(const Plan& plan, const SlurmLauncher& slurm,
                                                     const fs::path& folder) {
  std::map<Shape, std::vector<Run>> by_shape;
  for (const auto& run : plan.runs) by_shape[shape_of(run)].push_back(run);
  std::vector<std::pair<Shape, Submission>> arrays;
  for (auto& [shape, runs] : by_shape) {
    std::ranges::stable_sort(runs,
                             [](const Run& a, const Run& b) { return a.effort() > b.effort(); });
    const auto most = static_cast<std::size_t>(kMaxTasks * slurm.runs_per_task);
    for (std::size_t begin = 0; begin < runs.size(); begin += most) {
      Submission array{.folder = {}, .name = job_name(plan.experiment), .job = {}, .runs = {}};
      array.runs.assign(
          runs.begin() + static_cast<std::ptrdiff_t>(begin),
          runs.begin() + static_cast<std::ptrdiff_t>(std::min(runs.size(), begin + most)));
      array.tasks = task_count(array.runs.size(), slurm.runs_per_task);
      array.folder = folder / "slurm" / array.name;
      arrays.emplace_back(shape, std::move(array));
    }
  }
  return arrays;
}

/// Slurm, asked through its commands. An array is FOLDER/slurm/NAME/ with plan.json (its runs),
/// task.sh, the tasks' output and, once Slurm has accepted it, job.json. The accounting database is
/// never asked: many clusters have none.
class Slurm final : public BatchSystem {
 public:
  explicit Slurm(SlurmLauncher config) : config_(std::move(config)) {}

  std::string name() const override { return "Slurm"; }

  std::vector<Submission> submit(const Plan& plan, const fs::path& folder,
                                 const fs::path& driver) const override {
    auto shapes = arrays_for(plan, config_, folder);
    std::vector<Submission> arrays;
    for (auto& [shape, array] : shapes) arrays.push_back(std::move(array));
    try {
      for (std::size_t i = 0; i < arrays.size(); ++i) {
        auto& array = arrays[i];
        Plan part = plan;
        part.runs = array.runs;
        part.launcher["runs_per_task"] = config_.runs_per_task;  // which run is whose
        write_plan(array.folder, part);
        array.job = submit_array(config_, shapes[i].first, array, driver);
      }
    } catch (const UserError& error) {
      std::string message = error.what();
      try {
        if (dynamic_cast<const NoSlurm*>(&error) == nullptr) take_back(arrays);
      } catch (const UserError& also) {
        message += concat("\nand what was accepted could not be taken back: ", also.what(),
                          "\n./difflab status and cancel know of it");
        throw UserError(message);
      }
      std::error_code ignored;
      for (const auto& array : arrays) fs::remove_all(array.folder, ignored);
      throw UserError(message);
    }
    return arrays;
  }

  std::vector<Submission> submissions_of(const fs::path& folder) const override {
    std::vector<std::pair<fs::file_time_type, Submission>> found;
    for (const auto& path : paths_in(folder / "slurm")) {
      const auto plan_file = path / "plan.json";
      if (!fs::exists(plan_file)) continue;
      auto plan = read_plan(path);
      Submission array{
          .folder = path,
          .name = path.filename().string(),
          .job = {},
          .tasks = task_count(plan.runs.size(), plan.launcher.value("runs_per_task", 1)),
          .runs = std::move(plan.runs)};
      const auto job_file = path / "job.json";
      if (fs::exists(job_file)) {
        const Json job = Json::parse(read_file(job_file), nullptr, /*allow_exceptions=*/false);
        if (job.is_object()) array.job = string_at(job, "job");
      }
      found.emplace_back(fs::last_write_time(plan_file), std::move(array));
    }
    std::ranges::sort(found, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Submission> arrays;
    for (auto& [time, array] : found) arrays.push_back(std::move(array));
    return arrays;
  }

  std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& names) const override {
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

  void cancel(const std::vector<std::string>& jobs) const override {
    if (jobs.empty()) return;
    std::vector<std::string> argv{"scancel"};
    argv.insert(argv.end(), jobs.begin(), jobs.end());
    ask(argv);
  }

  bool requeue_own_task() const override {
    const auto job = environment("SLURM_ARRAY_JOB_ID"), task = environment("SLURM_ARRAY_TASK_ID");
    if (job.empty() || task.empty()) return false;
    ask({"scontrol", "requeue", concat(job, "_", task)});
    return true;
  }

  int own_restarts() const override {
    const auto text = environment("SLURM_RESTART_COUNT");
    int count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
  }

 private:
  /// Ends what Slurm has accepted of these arrays, also what it did not say so of: sbatch may fail,
  /// or its answer may be lost, after the array is in the queue under its name.
  void take_back(const std::vector<Submission>& arrays) const {
    std::set<std::string> accepted;
    std::vector<std::string> names;
    for (const auto& array : arrays) {
      if (!array.job.empty()) accepted.insert(array.job);
      if (fs::exists(array.folder / "task.sh")) names.push_back(array.name);
    }
    for (const auto& task : queued_tasks(names)) accepted.insert(task.job);
    cancel({accepted.begin(), accepted.end()});
  }

  SlurmLauncher config_;
};

}  // namespace

void SlurmLauncher::validate(config::Check& check) const {
  for (const auto& [key, value] :
       {std::pair("partition", &partition), std::pair("account", &account), std::pair("qos", &qos),
        std::pair("constraint", &constraint)}) {
    if (has_control(*value)) {
      check.problem(key, "has control characters in it; expected text as for sbatch");
    }
  }
  if (signal_seconds >= 60 * minutes) {
    check.problem("signal_seconds", concat("is ", signal_seconds, "; expected less than minutes, ",
                                           minutes, " (", 60 * minutes, " seconds)"));
  }
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& option = options[i];
    const std::string key = concat("options[", i, "]");
    const bool control = has_control(option);
    if (!option.starts_with("--") || option.size() < 3 || control) {
      check.problem(key, concat("is '", control ? "(control characters)" : option,
                                "'; expected a long option such as --mail-type=END"));
    } else if (is_own(option)) {
      check.problem(key,
                    concat("is '", option,
                           option.starts_with("--cl")
                               ? "'; difflab follows tasks in the queue of its own cluster alone"
                               : "', which difflab sets itself"));
    }
  }
}

std::unique_ptr<BatchSystem> SlurmLauncher::batch() const { return std::make_unique<Slurm>(*this); }

}  // namespace difflab::sweep
