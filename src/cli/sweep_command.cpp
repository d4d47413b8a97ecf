#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/expected_time.h"
#include "cli/fairness.h"
#include "cli/jobs.h"
#include "cli/plan_table.h"
#include "cli/project.h"
#include "cli/study.h"
#include "config/compose.h"
#include "config/library.h"
#include "config/yaml.h"
#include "experiment/trained_runs.h"
#include "record/provenance.h"
#include "sweep/execute.h"
#include "sweep/plan.h"
#include "sweep/progress.h"
#include "sweep/slurm_submit.h"
#include "sweep/standing.h"
#include "util/error.h"
#include "util/process.h"
#include "util/terminal.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

struct SweepOptions {
  StudyArguments study;
  bool dry_run = false;
  bool json = false;
  bool freeze = false;
};

/// The runs of a sweep as they stand before it starts, without those that a search has dropped.
struct Found {
  std::vector<sweep::Run> runs;
  std::vector<sweep::PlanState> states;
  std::unique_ptr<sweep::Halving> search;
  int complete = 0;
  std::set<std::string> trained = {};  ///< ids of missing runs whose training another one has done

  int planned() const { return static_cast<int>(runs.size()); }
  std::vector<sweep::Run> to_train() const {
    std::vector<sweep::Run> missing;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!sweep::is_complete(states[i]) && trained.count(runs[i].id) == 0) {
        missing.push_back(runs[i]);
      }
    }
    return missing;
  }
  /// "16", "16 (4 finished, 12 to run)", or with those that another run has trained.
  std::string text() const {
    const int asked = static_cast<int>(trained.size()), missing = planned() - complete;
    if (asked > 0) {
      return fmt::format("{} ({} finished, {} trained and to be asked, {} to train)", planned(),
                         complete, asked, missing - asked);
    }
    return complete == 0 ? fmt::format("{}", planned())
                         : fmt::format("{} ({} finished, {} to run)", planned(), complete, missing);
  }
};

Found look(const Study& study) {
  Found found{.runs = sweep::distinct(study.points), .states = {}, .search = study.search()};
  if (found.search) {
    std::erase_if(found.runs, [&](const sweep::Run& run) {
      return found.search->verdict(run) == sweep::Halving::Verdict::kDrop;
    });
  }
  found.states = states_of(found.runs);
  found.complete =
      static_cast<int>(std::count_if(found.states.begin(), found.states.end(), sweep::is_complete));
  if (found.complete == found.planned()) return found;
  note_older_trainings(study.results);
  for (std::size_t i = 0; i < found.runs.size(); ++i) {
    const auto& run = found.runs[i];
    if (sweep::is_complete(found.states[i])) continue;
    if (!runs_with_training(study.results, run.training, run.id).empty()) {
      found.trained.insert(run.id);
    }
  }
  return found;
}

void print_header(const Study& study, const Found& found, int workers) {
  std::cout << fmt::format("experiment {} (preset {})", study.name, study.preset) << '\n';
  const auto& question = study.config.question.empty() ? study.config.title : study.config.question;
  if (!question.empty()) std::cout << "question   " << question << '\n';
  std::cout << "runs       " << found.text() << '\n';
  if (found.search) {
    std::cout << fmt::format("search     {}; {} training steps instead of {}\n",
                             found.search->text(), found.search->steps(),
                             found.search->steps_without_search());
  }
  if (workers > 0) {
    std::cout << "workers    " << workers << '\n';
    const auto to_train = found.to_train();
    if (!found.search && !to_train.empty()) {  // a search drops runs on the way
      std::cout << "expected   " << expected_end(study, to_train, workers) << '\n';
    }
  }
  std::cout << "output     " << config::shown_path(study.output) << '\n';
  if (!study.config.unmatched.empty()) {
    std::cout << "sizes      not matched: " << study.config.unmatched << '\n';
  }
  if (const auto few = too_few_seeds(study); !few.empty() && found.complete < found.planned()) {
    std::cout << "warning    " << few << '\n';
  }
  std::cout << std::flush;
}

void print_failures(const std::vector<sweep::Failure>& failures) {
  if (failures.empty()) return;
  std::cerr << fmt::format("\n{} of the runs failed; the same command runs them again:\n",
                           failures.size());
  for (const auto& [run, message] : failures) {
    std::cerr << fmt::format("  {}\n    {}\n    log: {}\n", run.label(), message,
                             config::shown_path(run.directory.log()));
  }
}

sweep::SweepOutcome run_missing(const std::vector<sweep::Run>& runs, sweep::Launcher& launcher,
                                const sweep::Policy& policy, sweep::Halving* search) {
  const StopSignals signals;
  sweep::Progress progress(
      std::cerr, runs,
      {.live = is_terminal(STDERR_FILENO), .width = terminal_width(STDERR_FILENO)});
  return sweep::execute(runs, launcher, progress, policy, search);
}

// Results are kept when the code changes, since only their configuration names them; a reader of
// the table should know.
void note_other_code(const std::vector<sweep::Run>& runs,
                     const std::vector<sweep::PlanState>& states) {
  const Json& now = source_state();
  if (now.value("commit", Json()).is_null()) return;
  int others = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!sweep::is_complete(states[i])) continue;
    const auto then = read_provenance(runs[i].directory).value_or(Json::object());
    const bool same = then.value("commit", Json()) == now.at("commit") &&
                      then.value("diff_sha256", Json()) == now.at("diff_sha256");
    others += same ? 0 : 1;
  }
  if (others == 0) return;
  std::cout << fmt::format(
      "note       {} finished runs come from other code than the current one; a run whose folder "
      "you delete is executed again\n",
      others);
}

void write_report(const Study& study) {
  std::cout << '\n' << report::write_report(study.for_report()).text << std::flush;
}

// Executes what is missing here and now, then reports.
int launch(const Study& study, const Found& found, const std::filesystem::path& worker,
           const sweep::LocalLauncher& kind) {
  const auto launcher = kind.build(worker, study.threads_per_run);
  print_header(study, found, std::min(launcher->capacity(), found.planned() - found.complete));
  note_other_code(found.runs, found.states);
  const auto outcome = run_missing(found.runs, *launcher, kind.policy(), found.search.get());
  if (outcome.interrupted) {
    print_failures(outcome.failures);
    std::cerr << fmt::format("interrupted: {} of {} runs done; the same command continues\n",
                             found.complete + outcome.completed, found.planned() - outcome.dropped);
    return kInterrupted;
  }
  if (found.complete + outcome.completed > 0) write_report(study);
  print_failures(outcome.failures);
  if (outcome.unfinished > 0) {
    std::cerr << fmt::format("{} more runs were stopped or not started: launcher.fail_fast\n",
                             outcome.unfinished);
  }
  return outcome.failures.empty() ? 0 : kSomeRunsFailed;
}

// "headline", "headline,char_lm", or "all" for every file in experiments/.
std::vector<std::string> experiments_named(const std::string& names) {
  if (names == "all") {
    return config::Library(config::SearchPath::of_project(find_project())).options("experiment");
  }
  return split(names, ',');
}

// All are checked before the first one starts, and the problems of all are shown.
std::vector<Study> load_studies(const StudyArguments& arguments) {
  std::vector<Study> studies;
  std::vector<std::string> problems;
  for (const auto& name : experiments_named(arguments.name)) {
    try {
      studies.push_back(load_study(name, arguments.overrides));
      require_matched(studies.back());
    } catch (const UserError& error) {
      problems.emplace_back(error.what());
    }
  }
  if (!problems.empty()) throw UserError(join(problems, "\n"));
  return studies;
}

// Leaves the rest to Slurm; nothing of ours stays on this machine.
int launch(const Study& study, const Found& found, const std::filesystem::path&,
           const sweep::SlurmLauncher&) {
  auto plan = study.frozen();
  count_operations(plan.runs);
  sweep::write_plan(study.output, plan);
  print_header(study, found, 0);
  note_other_code(found.runs, found.states);
  submit_missing(plan, study.output);
  return 0;
}

int run_and_report(const Study& study) {
  auto found = look(study);
  // A worker that is not there is better missed here than in a hundred tasks.
  const auto worker = found.complete < found.planned() ? find_worker() : std::filesystem::path();
  require_writable(study.results / "runs");
  require_writable(study.output);
  if (found.complete < found.planned()) {
    count_operations(found.runs);
    return std::visit([&](const auto& kind) { return launch(study, found, worker, kind); },
                      study.config.launcher);
  }
  print_header(study, found, 0);
  note_other_code(found.runs, found.states);
  std::cout << fmt::format("nothing to run: all {} runs are finished\n", found.planned());
  write_report(study);
  return 0;
}

int freeze(const Study& study) {
  auto plan = study.frozen();
  count_operations(plan.runs);
  require_writable(study.results / "runs");
  sweep::write_plan(study.output, plan);
  const auto folder = quoted_for_shell(config::shown_path(study.output));
  std::cout << fmt::format(
      "frozen     {0}\nexecute it with ./difflab work {0}, in as many processes and on as many "
      "machines that see the folder as you like\n",
      folder);
  return 0;
}

// One after the other; runs that two of them share are run once. What fails is said, and the rest
// goes on.
int run_all(const std::vector<Study>& studies, bool freezing) {
  int exit_code = 0;
  for (const auto& study : studies) {
    if (&study != &studies.front()) std::cout << '\n';
    const int code = freezing ? freeze(study) : run_and_report(study);
    if (code == kInterrupted) return code;
    exit_code = std::max(exit_code, code);
  }
  return exit_code;
}

}  // namespace

void add_sweep_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* command = app.add_subcommand(
      "sweep", "Run what is missing of an experiment, then write its table, figures and report");
  add_study_arguments(*command, options->study);
  command->add_flag("--dry-run", options->dry_run,
                    "check everything and list the runs; run and write nothing");
  command->add_flag("--json", options->json, "with --dry-run: the list as JSON");
  command->add_flag("--freeze", options->freeze,
                    "write the runs to disk for `difflab work` and run nothing");
  command->callback([options, &exit_code] {
    if (options->json && !options->dry_run) throw UserError("--json is for --dry-run");
    const auto studies = load_studies(options->study);
    if (options->json && studies.size() > 1) throw UserError("--json is for one experiment");
    if (!options->dry_run) {
      exit_code = run_all(studies, options->freeze);
      return;
    }
    for (const auto& study : studies) {
      std::cout << (options->json ? plan_json(study) : plan_table(study));
    }
  });
}

}  // namespace difflab::cli
