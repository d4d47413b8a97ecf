// status, wait, cancel, resume: what asks and tells a frozen sweep, from any machine that
// sees its folder.

#include <set>

#include "cli/commands.h"
#include "cli/runs/pause.h"
#include "study/jobs.h"
#include "util/process.h"

namespace difflab::cli {
namespace {

struct JobsOptions {
  std::string folder;
  bool json = false;
  double seconds = 5;
};

void status(const JobsOptions& options) {
  const auto plan = sweep::read_plan(options.folder);
  const auto standings = sweep::standings_of(plan, options.folder);
  std::cout << (options.json ? standings_json(plan, standings)
                             : standings_text(plan, standings, options.folder));
}

int wait(const JobsOptions& options) {
  const auto plan = sweep::read_plan(options.folder);
  const StopSignals signals;
  int last = -1, looks = 0;
  while (looks < kLooksAtNobody) {
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
    looks = left == 0 ? kLooksAtNobody : nobody ? looks + 1 : 0;
    if (looks < kLooksAtNobody && !pause(options.seconds)) return kInterrupted;
  }
  const auto standings = sweep::standings_of(plan, options.folder);
  std::cout << standings_text(plan, standings, options.folder);
  return standings.complete() == static_cast<int>(plan.runs.size()) ? 0 : kFailed;
}

void cancel(const JobsOptions& options) {
  const auto plan = sweep::read_plan(options.folder);
  const auto standings = sweep::standings_of(plan, options.folder);
  if (standings.silence) throw UserError(*standings.silence);
  if (standings.tasks.empty()) {
    std::cout << "nothing to cancel: no task of this sweep is in a queue\n";
    return;
  }
  // The plan may have been frozen anew since, for another launcher.
  std::size_t jobs_in_all = 0;
  for (const auto& system : sweep::batch_systems()) {
    std::set<std::string> jobs;
    for (const auto& array : system->submissions_of(options.folder)) {
      for (const auto& task : standings.tasks) {
        if (task.name == array.name) jobs.insert(task.job);
      }
    }
    system->cancel({jobs.begin(), jobs.end()});
    jobs_in_all += jobs.size();
  }
  std::cout << fmt::format("cancelled {} tasks in {} jobs; {} resume continues the runs\n",
                           standings.tasks.size(), jobs_in_all, program_name());
}

CLI::App* add_command(CLI::App& app, const char* name, const char* about,
                      const std::shared_ptr<JobsOptions>& options) {
  CLI::App* command = app.add_subcommand(name, about);
  command->add_option("folder", options->folder, "the sweep's output, where its plan.json lies")
      ->required();
  return command;
}

}  // namespace

void add_jobs_commands(CLI::App& app) {
  const auto options = std::make_shared<JobsOptions>();
  auto* status_command =
      add_command(app, "status", "How a frozen or submitted sweep stands", options);
  status_command->add_flag("--json", options->json, "as JSON");
  status_command->callback([options] { status(*options); });

  auto* wait_command = add_command(
      app, "wait", "Block until all runs have finished; exit 1 if some were abandoned", options);
  wait_command->add_option("--every", options->seconds, "seconds between checks")
      ->check(CLI::Range(0.01, 3600.0));
  wait_command->callback([options] { exit_with(wait(*options)); });

  auto* cancel_command = add_command(
      app, "cancel", "End the tasks of a submitted sweep; their runs save their state", options);
  cancel_command->callback([options] { cancel(*options); });

  auto* resume_command =
      add_command(app, "resume", "Submit again the runs of a sweep that no task works on", options);
  resume_command->callback([options] {
    find_worker();
    submit_missing(sweep::read_plan(options->folder), options->folder);
  });
}

}  // namespace difflab::cli
