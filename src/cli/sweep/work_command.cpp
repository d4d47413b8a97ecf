#include <unistd.h>

#include <charconv>
#include <variant>

#include "cli/commands.h"
#include "study/jobs.h"
#include "sweep/execute.h"
#include "sweep/launcher/launcher_config.h"
#include "sweep/launcher/local.h"
#include "sweep/progress.h"
#include "util/process.h"
#include "util/terminal/terminal.h"

namespace difflab::cli {
namespace {

struct WorkOptions {
  std::string folder;
  std::string share = "0/1";
  int workers = 0;
  std::optional<int> requeue;
};

constexpr double kLastSeconds = 5;  // for what comes after the runs: going back to the queue

struct Share {
  int index = 0, count = 1;
};

Share parse_share(const std::string& text) {
  Share share;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, share.index);
  const bool has_both = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = std::from_chars(has_both ? index.ptr + 1 : end, end, share.count);
  if (count.ec != std::errc() || count.ptr != end || share.index < 0 ||
      share.index >= share.count) {
    throw UserError(
        concat("--share is ", text,
               "; expected I/N with I from 0 to N - 1: every N-th run, the I-th first"));
  }
  return share;
}

// The time is up and the runs have saved their state: this task shall be started once more, by
// whichever system it is a task of.
int continue_later(const WorkOptions& options) {
  const auto systems = sweep::batch_systems();
  const bool too_often = std::ranges::any_of(
      systems, [&](const auto& system) { return system->own_restarts() >= *options.requeue; });
  if (too_often) {
    std::cerr << fmt::format(
        "time limit reached after {} requeues (max_requeues); {} resume continues the task\n",
        *options.requeue, program_name());
    return kRunStopped;
  }
  std::cerr
      << "time limit reached: the runs have saved their state, the task goes back to the queue\n"
      << std::flush;
  if (std::ranges::none_of(systems,
                           [](const auto& system) { return system->requeue_own_task(); })) {
    std::cerr << "not inside a batch job, so nothing was requeued\n";
  }
  return kRunStopped;
}

// The limits that the plan was frozen with. Tasks of a batch system have those of their queue.
sweep::LocalLauncher local_launcher(const sweep::Plan& plan) {
  const auto config = launcher_of(plan);
  if (const auto* local = std::get_if<sweep::LocalLauncher>(&config)) return *local;
  const auto* there = std::get_if<sweep::SshLauncher>(&config);
  if (there == nullptr) return {};
  return {.retries = there->retries, .fail_fast = there->fail_fast, .order = there->order};
}

int work(const WorkOptions& options) {
  const auto share = parse_share(options.share);
  const auto plan = sweep::read_plan(options.folder);
  const auto runs = sweep::share_of(plan.runs, share.index, share.count);
  const auto worker = find_worker();
  if (!runs.empty()) require_writable(runs.front().directory.path.parent_path());
  auto local = local_launcher(plan);
  if (options.workers > 0) local.workers.number = options.workers;
  const auto launcher = local.build(worker, plan.threads_per_run(), runs.size());

  const StopSignals signals;
  sweep::Progress progress(
      std::cerr, runs,
      {.live = is_terminal(STDERR_FILENO), .width = terminal_width(STDERR_FILENO)});
  auto policy = local.policy();
  // A task of a queue has as long to save its runs' state as the queue was asked to warn before.
  if (const auto seconds = plan.launcher.value("signal_seconds", 0.0); seconds > 0) {
    policy.stop_grace_seconds = std::max(1.0, seconds - kLastSeconds);
  }
  const auto outcome = sweep::execute(runs, *launcher, progress, policy);
  for (const auto& [run, message] : outcome.failures) {
    std::cerr << fmt::format("failed: {}\n  {}\n", run.label(), message);
  }
  if (outcome.unfinished > 0 && StopSignals::time_is_short() && options.requeue) {
    return continue_later(options);
  }
  if (outcome.interrupted && outcome.unfinished > 0) return kRunStopped;
  return outcome.failures.empty() ? 0 : kFailed;
}

}  // namespace

void add_work_command(CLI::App& app) {
  const auto options = std::make_shared<WorkOptions>();
  CLI::App* command = app.add_subcommand(
      "work", "Execute what is missing of a frozen sweep, together with whoever else does");
  command->add_option("folder", options->folder, "the sweep's output, where its plan.json lies")
      ->required();
  command->add_option("--share", options->share,
                      "I/N: only every N-th run, beginning with the I-th (from 0)");
  command
      ->add_option("--workers", options->workers,
                   "runs at the same time; by default as many as the cores hold")
      ->check(CLI::Range(1, 1024));
  command->add_option(
      "--requeue", options->requeue,
      "in a task of a batch system: go back to the queue when the time is nearly over (signal "
      "USR1), at most this often");
  command->callback([options] { exit_with(work(*options)); });
}

}  // namespace difflab::cli
