// status, wait, cancel, logs, resume: what asks and tells a frozen sweep, from any machine that
// sees its folder.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <thread>

#include "cli/commands.h"
#include "cli/jobs.h"
#include "cli/project.h"
#include "sweep/slurm_queue.h"
#include "sweep/slurm_submit.h"
#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

namespace fs = std::filesystem;

// A run may be between two processes for a moment: one look that finds nobody at it proves nothing.
constexpr int kLooks = 3;

struct Options {
  std::string folder;
  std::string run;
  bool json = false;
  bool follow = false;
  double seconds = 5;
};

// Sleeps, unless a stop signal comes; then false.
bool pause(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (StopSignals::count() == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return StopSignals::count() == 0;
}

void status(const Options& options) {
  const auto plan = sweep::read_plan(options.folder);
  const auto standings = sweep::standings_of(plan, options.folder);
  std::cout << (options.json ? standings_json(plan, standings)
                             : standings_text(plan, standings, options.folder));
}

int wait(const Options& options) {
  const auto plan = sweep::read_plan(options.folder);
  const StopSignals signals;
  int last = -1, looks = 0;
  while (looks < kLooks) {
    const auto standings = sweep::standings_of(plan, options.folder);
    const int complete = standings.complete();
    if (complete != last) {
      std::cerr << fmt::format("{}/{} runs finished\n", complete, plan.runs.size());
    }
    last = complete;
    const int left = static_cast<int>(plan.runs.size()) - complete;
    // Runs that a silent queue may still have are waited for.
    const bool nobody = !standings.silence && standings.tasks.empty() &&
                        static_cast<int>(standings.abandoned().size()) == left;
    looks = nobody ? looks + 1 : left == 0 ? kLooks : 0;
    if (looks < kLooks && !pause(options.seconds)) return kInterrupted;
  }
  const auto standings = sweep::standings_of(plan, options.folder);
  std::cout << standings_text(plan, standings, options.folder);
  return standings.complete() == static_cast<int>(plan.runs.size()) ? 0 : kSomeRunsFailed;
}

void cancel(const Options& options) {
  const auto plan = sweep::read_plan(options.folder);
  const auto standings = sweep::standings_of(plan, options.folder);
  if (standings.silence) throw UserError(*standings.silence);
  std::set<std::string> jobs;
  for (const auto& task : standings.tasks) jobs.insert(task.job);
  sweep::cancel_jobs({jobs.begin(), jobs.end()});
  std::cout << fmt::format("cancelled {} tasks in {} jobs; ./difflab resume continues the runs\n",
                           standings.tasks.size(), jobs.size());
}

// The logs of the runs, each line behind its run's label if there are several.
class Logs {
 public:
  explicit Logs(std::vector<sweep::Run> runs) : runs_(std::move(runs)), shown_(runs_.size(), 0) {}

  void show_new() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      std::ifstream file(runs_[i].directory.log(), std::ios::binary);
      if (!file.seekg(static_cast<std::streamoff>(shown_[i]))) continue;
      const std::string text(std::istreambuf_iterator<char>(file), {});
      const auto end = text.rfind('\n');
      if (end == text.npos) continue;
      print(runs_[i], std::string_view(text).substr(0, end));
      shown_[i] += end + 1;
    }
    std::cout << std::flush;
  }
  bool all_complete() const {
    for (const auto& run : runs_) {
      if (!sweep::is_complete(sweep::state_of(run.directory))) return false;
    }
    return true;
  }

 private:
  void print(const sweep::Run& run, std::string_view text) const {
    while (true) {
      const auto end = text.find('\n');
      if (runs_.size() > 1) std::cout << run.label() << " | ";
      std::cout << text.substr(0, end) << '\n';
      if (end == text.npos) return;
      text.remove_prefix(end + 1);
    }
  }

  std::vector<sweep::Run> runs_;
  std::vector<std::size_t> shown_;
};

int logs(const Options& options) {
  auto runs = sweep::read_plan(options.folder).runs;
  std::erase_if(runs, [&](const sweep::Run& run) {
    return !run.id.starts_with(options.run) && run.label().find(options.run) == std::string::npos;
  });
  if (runs.empty()) {
    throw UserError(concat("no run of ", options.folder, " has an id that begins with '",
                           options.run, "' or a label that contains it"));
  }
  const StopSignals signals;
  Logs shown(std::move(runs));
  bool complete = !options.follow;
  while (!complete) {
    complete = shown.all_complete();  // before the last look, not after it
    shown.show_new();
    if (!complete && !pause(0.5)) return kInterrupted;
  }
  shown.show_new();
  return 0;
}

CLI::App* add_command(CLI::App& app, const char* name, const char* about,
                      const std::shared_ptr<Options>& options) {
  CLI::App* command = app.add_subcommand(name, about);
  command->add_option("folder", options->folder, "the sweep's output, where its plan.json lies")
      ->required();
  return command;
}

}  // namespace

void add_jobs_commands(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  auto* status_command =
      add_command(app, "status", "How a frozen or submitted sweep stands", options);
  status_command->add_flag("--json", options->json, "as JSON");
  status_command->callback([options] { status(*options); });

  auto* wait_command = add_command(
      app, "wait", "Wait until every run is finished or nobody is at the rest (exit code 1)",
      options);
  wait_command->add_option("--every", options->seconds, "seconds between two looks")
      ->check(CLI::Range(0.01, 3600.0));
  wait_command->callback([options, &exit_code] { exit_code = wait(*options); });

  auto* cancel_command = add_command(
      app, "cancel", "End the Slurm tasks of a sweep; their runs save their state", options);
  cancel_command->callback([options] { cancel(*options); });

  auto* logs_command = add_command(app, "logs", "What the runs of a frozen sweep print", options);
  logs_command->add_option("run", options->run, "the beginning of an id, or a part of a label");
  logs_command->add_flag("-f,--follow", options->follow, "go on until the runs are finished");
  logs_command->callback([options, &exit_code] { exit_code = logs(*options); });

  auto* resume_command =
      add_command(app, "resume", "Submit the runs of a sweep to Slurm that nobody is at", options);
  resume_command->callback([options] {
    find_worker();
    submit_missing(sweep::read_plan(options->folder), options->folder);
  });
}

}  // namespace difflab::cli
