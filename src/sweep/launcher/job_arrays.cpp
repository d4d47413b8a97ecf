#include "sweep/launcher/job_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "sweep/plan/plan.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxTasks = 1'000;  // Slurm's MaxArraySize is 1001 if nobody changed it

class NoQueue : public UserError {
 public:
  using UserError::UserError;
};

int task_count(std::size_t runs, std::int64_t runs_per_task) {
  const auto per_task = static_cast<std::size_t>(std::max<std::int64_t>(1, runs_per_task));
  return static_cast<int>((runs + per_task - 1) / per_task);
}

// Queues take %, \ and ^ for their own in some places, commas separate names in lists.
std::string job_name(const std::string& experiment) {
  std::string name = "difflab-";
  for (const char character : experiment) {
    const bool plain = std::isalnum(static_cast<unsigned char>(character)) != 0 ||
                       character == '_' || character == '.';
    name += plain ? character : '-';
  }
  return fmt::format("{}-{:08x}", name.substr(0, 40), std::random_device()());
}

std::pair<std::int64_t, std::string> shape_of(const Run& run) {
  return {run.config.value("threads", 1), run.config.value("device", "cpu")};
}

// The arrays to submit, not yet on disk.
std::vector<Submission> arrays_for(const Plan& plan, std::int64_t runs_per_task,
                                   const fs::path& folder) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<Run>> by_shape;
  for (const auto& run : plan.runs) by_shape[shape_of(run)].push_back(run);
  std::vector<Submission> arrays;
  for (auto& [shape, runs] : by_shape) {
    std::ranges::stable_sort(runs,
                             [](const Run& a, const Run& b) { return a.effort() > b.effort(); });
    const auto most = static_cast<std::size_t>(kMaxTasks * runs_per_task);
    for (std::size_t begin = 0; begin < runs.size(); begin += most) {
      auto& array = arrays.emplace_back();
      array.name = job_name(plan.experiment);
      array.folder = folder / array.name;
      array.runs.assign(
          runs.begin() + static_cast<std::ptrdiff_t>(begin),
          runs.begin() + static_cast<std::ptrdiff_t>(std::min(runs.size(), begin + most)));
      array.tasks = task_count(array.runs.size(), runs_per_task);
    }
  }
  return arrays;
}

}  // namespace

std::string output_of(const std::vector<std::string>& argv, OnStop on_stop) {
  const auto printed = run_program(argv, on_stop);
  if (printed.status.success()) return printed.output;
  const auto said = last_line(printed.errors);
  throw UserError(concat(argv[0], ": ", said.empty() ? printed.status.text() : said));
}

void JobArrayKeys::validate(config::Check& check) const {
  if (signal_seconds >= 60 * minutes) {
    check.problem("signal_seconds", concat("is ", signal_seconds, "; expected less than minutes, ",
                                           minutes, " (", 60 * minutes, " seconds)"));
  }
}

void check_words(config::Check& check, std::string_view submitter,
                 const std::vector<std::pair<std::string, std::string>>& texts) {
  for (const auto& [key, text] : texts) {
    if (std::ranges::any_of(text, is_control)) {
      check.problem(key, concat("has control characters in it; expected text as for ", submitter));
    }
  }
}

void JobArrays::submit_array(Submission& array, const Plan& plan, const fs::path& driver) const {
  Plan part = plan;
  part.runs = array.runs;
  part.launcher["runs_per_task"] = keys_.runs_per_task;  // which run is whose
  write_plan(array.folder, part);
  const auto script = array.folder / "task.sh";
  write_file_atomically(script, task_script());
  const auto [threads, device] = shape_of(array.runs.front());
  auto argv = submit_command(array, threads, device);
  for (const auto& word :
       {script.string(), driver.string(), array.folder.string(), std::to_string(array.tasks),
        std::to_string(keys_.workers_of_task()), std::to_string(keys_.max_requeues)}) {
    argv.push_back(word);
  }
  const auto& program = argv[0];
  const auto printed = run_program(argv);
  if (printed.status.code == kNoSuchProgram) {
    throw NoQueue(concat("there is no ", program, " in PATH; launcher=", kind_,
                         " needs a machine of the cluster"));
  }
  if (!printed.status.success()) {
    throw UserError(concat(program, " refused the job (", printed.status.text(),
                           "): ", printed.errors.empty() ? "it gave no reason" : printed.errors));
  }
  const auto line = last_line(printed.output);
  const auto job = line.substr(0, line.find(';'));  // Slurm: "123;cluster"
  if (job.empty() || std::isdigit(static_cast<unsigned char>(job[0])) == 0 ||
      job.find(' ') != job.npos) {
    throw UserError(concat(program, " printed '", line, "'; expected the number of the job"));
  }
  write_file_atomically(array.folder / "job.json",
                        Json{{"job", job}, {program, argv}}.dump(1) + "\n");
  array.job = job;
}

std::vector<Submission> JobArrays::submit(const Plan& plan, const fs::path& folder,
                                          const fs::path& driver) const {
  auto arrays = arrays_for(plan, keys_.runs_per_task, folder / kind_);
  try {
    for (auto& array : arrays) submit_array(array, plan, driver);
  } catch (const UserError& error) {
    std::string message = error.what();
    try {
      if (dynamic_cast<const NoQueue*>(&error) == nullptr) take_back(arrays);
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

// Ends what the queue has accepted of these arrays, also what it did not say so of: the submitting
// program may fail, or its answer may be lost, after the array is in the queue under its name.
void JobArrays::take_back(const std::vector<Submission>& arrays) const {
  std::set<std::string> accepted;
  std::vector<std::string> names;
  for (const auto& array : arrays) {
    if (!array.job.empty()) accepted.insert(array.job);
    if (fs::exists(array.folder / "task.sh")) names.push_back(array.name);
  }
  for (const auto& task : queued_tasks(names)) accepted.insert(task.job);
  cancel({accepted.begin(), accepted.end()});
}

std::vector<Submission> JobArrays::submissions_of(const fs::path& folder) const {
  std::vector<std::pair<fs::file_time_type, Submission>> found;
  for (const auto& path : paths_in(folder / kind_)) {
    const auto plan_file = path / "plan.json";
    if (!fs::exists(plan_file)) continue;
    auto plan = read_plan(path);
    Submission array{.folder = path,
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

}  // namespace difflab::sweep
