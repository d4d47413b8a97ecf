#include "sweep/launcher/slurm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "util/error.h"
#include "util/text.h"

namespace difflab::sweep {
namespace {

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

/// Slurm, asked through its commands. The accounting database is never asked: many clusters have
/// none.
class Slurm final : public JobArrays {
 public:
  explicit Slurm(SlurmLauncher config)
      : JobArrays(config.kKind, config), config_(std::move(config)) {}

  std::string name() const override { return "Slurm"; }

  std::vector<QueuedTask> queued_tasks(const std::vector<std::string>& names) const override {
    std::vector<QueuedTask> tasks;
    if (names.empty()) return tasks;
    const auto said = output_of({"squeue", "--array", "--noheader", "--format=%j|%F|%K|%T|%r",
                                 concat("--name=", join(names, ","))},
                                OnStop::kKill);
    for (const auto& line : split(said, '\n')) {
      const auto fields = split(line, '|');
      if (fields.size() < 4) continue;
      const auto& index = fields[2];
      QueuedTask task{.name = fields[0],
                      .job = fields[1],
                      .state = fields[3],
                      .reason = join({fields.begin() + 4, fields.end()}, "|")};
      const auto parsed = std::from_chars(index.data(), index.data() + index.size(), task.index);
      if (parsed.ec == std::errc()) tasks.push_back(task);
    }
    return tasks;
  }

  void cancel(const std::vector<std::string>& jobs) const override {
    if (jobs.empty()) return;
    std::vector<std::string> argv{"scancel"};
    argv.insert(argv.end(), jobs.begin(), jobs.end());
    output_of(argv);
  }

  bool requeue_own_task() const override {
    const auto job = environment("SLURM_ARRAY_JOB_ID"), task = environment("SLURM_ARRAY_TASK_ID");
    if (job.empty() || task.empty()) return false;
    output_of({"scontrol", "requeue", concat(job, "_", task)});
    return true;
  }

  int own_restarts() const override {
    return parse_whole<int>(environment("SLURM_RESTART_COUNT")).value_or(0);
  }

 private:
  std::vector<std::string> submit_command(const Submission& array, std::int64_t threads,
                                          const std::string& device) const override {
    const auto workers = config_.workers_of_task();
    std::vector<std::string> argv{
        "sbatch", "--parsable", "--requeue", "--export=ALL", "--open-mode=append",
        // No path is a file name pattern here, where % would mean something.
        concat("--chdir=", array.folder.string()), "--output=task-%a.txt",
        concat("--job-name=", array.name),
        concat("--array=0-", array.tasks - 1,
               config_.at_once > 0 ? concat("%", config_.at_once) : std::string()),
        concat("--signal=B:USR1@", config_.signal_seconds), concat("--time=", config_.minutes),
        "--nodes=1", "--ntasks=1", concat("--cpus-per-task=", workers * threads),
        concat("--mem=", workers * config_.memory_mb, "M")};
    const auto add = [&](const char* option, const std::string& value) {
      if (!value.empty()) argv.push_back(concat(option, value));
    };
    add("--partition=", config_.partition);
    add("--account=", config_.account);
    add("--qos=", config_.qos);
    add("--constraint=", config_.constraint);
    if (device == "cuda" && config_.gpus > 0) argv.push_back(concat("--gres=gpu:", config_.gpus));
    argv.insert(argv.end(), config_.options.begin(), config_.options.end());
    return argv;
  }

  std::string task_script() const override {
    return R"(#!/bin/bash
# A task of a difflab sweep. Arguments: difflab, folder, tasks, workers, requeues.
exec "$1" work "$2" --share "$SLURM_ARRAY_TASK_ID/$3" --workers "$4" --requeue "$5"
)";
  }

  SlurmLauncher config_;
};

}  // namespace

void SlurmLauncher::validate(config::Check& check) const {
  check_words(
      check, "sbatch",
      {{"partition", partition}, {"account", account}, {"qos", qos}, {"constraint", constraint}});
  JobArrayKeys::validate(check);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& option = options[i];
    const std::string key = concat("options[", i, "]");
    const bool control = std::ranges::any_of(option, is_control);
    if (!option.starts_with("--") || option.size() < 3 || control) {
      check.problem(key, concat("is '", control ? "(control characters)" : option,
                                "'; expected a long option such as --mail-type=END"));
    } else if (is_own(option)) {
      check.problem(key, concat("is '", option,
                                option.starts_with("--cl")
                                    ? "'; difflab follows only tasks in its own cluster's queue"
                                    : "', which difflab sets itself"));
    }
  }
}

std::unique_ptr<BatchSystem> SlurmLauncher::batch() const { return std::make_unique<Slurm>(*this); }

}  // namespace difflab::sweep
