#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "sweep/launcher/slurm_batch.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/files.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

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
    std::stable_sort(runs.begin(), runs.end(),
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

}  // namespace

void Slurm::take_back(const std::vector<Submission>& arrays) const {
  std::set<std::string> accepted;
  std::vector<std::string> names;
  for (const auto& array : arrays) {
    if (!array.job.empty()) accepted.insert(array.job);
    if (fs::exists(array.folder / "task.sh")) names.push_back(array.name);
  }
  for (const auto& task : queued_tasks(names)) accepted.insert(task.job);
  cancel({accepted.begin(), accepted.end()});
}

std::vector<Submission> Slurm::submit(const Plan& plan, const fs::path& folder,
                                      const fs::path& driver) const {
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

std::vector<Submission> Slurm::submissions_of(const fs::path& folder) const {
  std::vector<std::pair<fs::file_time_type, Submission>> found;
  std::error_code none;  // no folder: nothing was submitted
  for (const auto& entry : fs::directory_iterator(folder / "slurm", none)) {
    const auto plan_file = entry.path() / "plan.json";
    if (!fs::exists(plan_file)) continue;
    auto plan = read_plan(entry.path());
    Submission array{.folder = entry.path(),
                     .name = entry.path().filename().string(),
                     .job = {},
                     .tasks = task_count(plan.runs.size(), plan.launcher.value("runs_per_task", 1)),
                     .runs = std::move(plan.runs)};
    const auto job_file = entry.path() / "job.json";
    if (fs::exists(job_file)) {
      const Json job = Json::parse(read_file(job_file), nullptr, /*allow_exceptions=*/false);
      if (job.is_object()) array.job = string_at(job, "job");
    }
    found.emplace_back(fs::last_write_time(plan_file), std::move(array));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Submission> arrays;
  for (auto& [time, array] : found) arrays.push_back(std::move(array));
  return arrays;
}

std::unique_ptr<BatchSystem> SlurmLauncher::batch() const { return std::make_unique<Slurm>(*this); }

}  // namespace difflab::sweep
