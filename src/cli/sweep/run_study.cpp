#include "cli/sweep/run_study.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "config/override/override.h"
#include "config/value/yaml.h"
#include "record/provenance.h"
#include "report/data/format.h"
#include "run/input_files.h"
#include "run/memory.h"
#include "run/run_config.h"
#include "run/trained_runs.h"
#include "study/expected_time.h"
#include "study/fairness.h"
#include "study/jobs.h"
#include "study/project.h"
#include "sweep/execute.h"
#include "sweep/progress.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/process.h"
#include "util/terminal/terminal.h"
#include "util/text.h"
#include "util/timing.h"

namespace difflab::cli {
namespace {

/// The runs of a sweep as they stand before it starts.
struct Found {
  std::vector<sweep::Run> runs;
  std::vector<RunState> states;
  int complete = 0;
  std::set<std::string> trained = {};  ///< ids of missing runs whose training another one has done

  int planned() const { return static_cast<int>(runs.size()); }
  std::vector<sweep::Run> to_train() const {
    std::vector<sweep::Run> missing;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!is_complete(states[i]) && trained.count(runs[i].id) == 0) missing.push_back(runs[i]);
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
    return complete == 0 ? concat(planned())
                         : fmt::format("{} ({} finished, {} to run)", planned(), complete, missing);
  }
};

// A run that only asks, as another has done its training, costs next to nothing.
void count_asking_little(Found& found) {
  for (auto& run : found.runs) {
    if (found.trained.count(run.id) == 0) continue;
    run.work = 1;
    run.operations = 0;
  }
}

Found look(const Study& study, bool may_write = true) {
  Found found{.runs = sweep::distinct(study.points), .states = {}};
  found.states = sweep::states_of(found.runs);
  found.complete = static_cast<int>(std::ranges::count_if(found.states, is_complete));
  if (found.complete == found.planned()) return found;
  if (may_write) note_older_trainings(study.results);
  for (std::size_t i = 0; i < found.runs.size(); ++i) {
    const auto& run = found.runs[i];
    if (is_complete(found.states[i])) continue;
    if (!runs_with_training(study.results, run.training, /*without=*/"").empty()) {
      found.trained.insert(run.id);
    }
  }
  return found;
}

constexpr std::size_t kLabelWidth = 11;
constexpr std::size_t kTextWidth = 98;  // with two blanks as wide as the report's sentences

void print_header(const Study& study, const Found& found, int workers) {
  std::cout << (study.preset.empty()
                    ? fmt::format("asking     {}\n", study.name)
                    : fmt::format("experiment {} (preset {})\n", study.name, study.preset));
  const auto& question = study.config.question.empty() ? study.config.title : study.config.question;
  // A log has no width.
  const bool live = is_terminal(STDOUT_FILENO);
  const auto line = [live](const char* label, const std::string& text) {
    const auto whole = fmt::format("{:<{}}{}", label, kLabelWidth, text);
    const auto width = static_cast<std::size_t>(std::max(terminal_width(STDOUT_FILENO), 40));
    std::cout << (live ? report::wrap(whole, width, std::string(kLabelWidth, ' ')) : whole) << '\n';
  };
  if (!question.empty()) line("question", question);
  std::cout << "runs       " << found.text() << '\n';
  if (study.tuned) line("tuned", concat(study.tuned->key, ": ", study.tuned->picks()));
  if (workers > 0) {
    std::cout << "workers    " << workers << '\n';
    const auto missing = found.to_train();
    if (!missing.empty()) line("expected", expected_end(study, missing, workers));
  }
  if (!study.output.empty()) {
    std::cout << "output     " << config::shown_path(study.output) << '\n';
  }
  for (const auto& note : study.notes) line("note", note);
  if (!study.config.unmatched.empty()) {
    line("sizes", "not matched: " + study.config.unmatched);
  }
  if (const auto few = too_few_seeds(study); !few.empty() && found.complete < found.planned()) {
    line("warning", few);
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

sweep::SweepOutcome run_missing(const Found& found, sweep::Launcher& launcher,
                                const sweep::Policy& policy) {
  const StopSignals signals;
  sweep::Progress progress(
      std::cerr, found.runs,
      {.live = is_terminal(STDERR_FILENO), .width = terminal_width(STDERR_FILENO)});
  return sweep::execute(found.runs, launcher, progress, policy);
}

// Results are kept when the code changes, since only their configuration names them; a reader of
// the table should know. So with what makes libraries compute otherwise.
void note_other_origin(const std::vector<sweep::Run>& runs, const std::vector<RunState>& states) {
  const Json& now = source_state();
  const auto environment = numeric_environment();
  int of_other_code = 0, elsewhere = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_complete(states[i])) continue;
    bool is_same = true, is_alike = true;
    for (const Json& then :
         sessions_of(read_provenance(runs[i].directory).value_or(Json::object()))) {
      is_same &= then.value("commit", Json()) == now.at("commit") &&
                 then.value("diff_sha256", Json()) == now.at("diff_sha256");
      is_alike &= string_at(then, "environment") == environment;
    }
    of_other_code += is_same ? 0 : 1;
    elsewhere += is_alike ? 0 : 1;
  }
  const auto note = [](int count, std::string_view origin) {
    if (count == 0) return;
    std::cout << fmt::format(
        "note       {} finished runs come wholly or partly from {}; another results=FOLDER "
        "retrains them\n",
        count, origin);
  };
  if (!now.at("commit").is_null()) note(of_other_code, "other code than the current one");
  note(elsewhere, concat("processes with other library settings for arithmetic (now: ",
                         environment.empty() ? "none is set" : environment, ")"));
}

// Executes what is missing here and now, then reports.
int launch(const Study& study, const Found& found, const std::filesystem::path& worker,
           const std::function<std::optional<report::Summary>()>& report) {
  const auto [launcher, policy] =
      sweep::launch_here(study.config.launcher, worker, study.threads_per_run,
                         static_cast<std::size_t>(found.planned() - found.complete));
  const int workers = std::min(launcher->capacity(), found.planned() - found.complete);
  print_header(study, found, workers);
  note_other_origin(found.runs, found.states);
  sweep::SweepTime time{.workers = workers, .by_runs = {}};
  sweep::SweepOutcome outcome;
  {
    const Timed running(time.runs);
    outcome = run_missing(found, *launcher, policy);
  }
  if (outcome.interrupted) {
    print_failures(outcome.failures);
    std::cerr << fmt::format("interrupted: {} of {} runs done; the same command continues\n",
                             found.complete + outcome.completed, found.planned());
    return kInterrupted;
  }
  std::optional<report::Summary> summary;
  if (found.complete + outcome.completed > 0) {
    const Timed reporting(time.report);
    summary = report();
  }
  print_failures(outcome.failures);
  if (outcome.unfinished > 0) {
    std::cerr << fmt::format("{} more runs were stopped or not started: launcher.fail_fast\n",
                             outcome.unfinished);
  }
  if (summary) {
    time.by_runs = outcome.spent;
    time.figures = summary->drawing_seconds;
    std::cout << "  " << report::wrap("time    " + sweep::time_text(time), kTextWidth, "          ")
              << std::endl;
  }
  const bool is_drawn = !summary || !summary->has_failed_to_draw;
  return outcome.failures.empty() && is_drawn ? 0 : kFailed;
}

// Leaves the rest to a batch system; nothing of ours stays on this machine.
int submit(const Study& study, const Found& found) {
  auto plan = study.frozen();
  count_operations(study, plan.runs);
  sweep::write_plan(study.output, plan);
  print_header(study, found, 0);
  note_other_origin(found.runs, found.states);
  hand_on_source_state(find_worker());  // sbatch hands it on to the tasks
  submit_missing(plan, study.output);
  return 0;
}

// Fails at once, not hours later in the last run, if a run lacks CUDA or memory.
void require_machine_of(const Study& study, const Found& found) {
  const double available = sweep::memory_of_run(study.config.launcher);
  for (std::size_t i = 0; i < found.runs.size(); ++i) {
    if (is_complete(found.states[i])) continue;
    const auto& run = found.runs[i];
#ifndef DIFFLAB_TORCH_HAS_CUDA
    if (study.config_of(run).device == Device::kCuda) {
      throw UserError(
          "device is cuda, but difflab was built with a CPU-only LibTorch; use "
          "device=cpu, or install one with CUDA (docs/gpu.md)");
    }
#endif
    const auto lack =
        lacks_memory(study.config_of(run), found.trained.count(run.id) > 0, available);
    if (lack) throw UserError(concat("run ", run.label(), ": ", *lack));
  }
}

}  // namespace

void require_machine(const Study& study) {
  require_machine_of(study, look(study, /*may_write=*/false));
}

int run_study(const Study& study, const std::function<std::optional<report::Summary>()>& report) {
  auto found = look(study);
  // A worker that is not there is better missed here than in a hundred tasks.
  const auto worker = found.complete < found.planned() ? find_worker() : std::filesystem::path();
  require_machine_of(study, found);
  require_writable(study.results / "runs");
  if (!study.output.empty()) require_writable(study.output);
  if (found.complete < found.planned()) {
    count_operations(study, found.runs);
    count_asking_little(found);
    return sweep::batch_system(study.config.launcher) ? submit(study, found)
                                                      : launch(study, found, worker, report);
  }
  print_header(study, found, 0);
  note_other_origin(found.runs, found.states);
  std::cout << fmt::format("nothing to run: all {} runs are finished\n", found.planned());
  const auto summary = report();
  return summary && summary->has_failed_to_draw ? kFailed : 0;
}

report::Summary write_report(const Study& study) {
  auto summary = report::write_report(study.for_report());
  std::cout << '\n' << summary.text << std::flush;
  return summary;
}

Study study_without_runs(const std::filesystem::path& results, const std::string& name,
                         const std::string& title) {
  // As a text of the grammar of overrides, whatever characters the path has.
  auto study = load_study("", {concat("results=", config::in_quotes(results.string(), '\''))});
  study.points.clear();
  study.configs.clear();
  study.name = name;
  study.config.title = title;
  study.config.question = "";
  study.output.clear();
  return study;
}

void add_known_run(Study& study, RunConfig config, const std::string& id, const Axes& axes) {
  // References name files of the project by where they lie in it.
  each_input_file(config, [&](InputFile& file) {
    if (file.given()) file.path = (study.root / file.path).lexically_normal().string();
  });
  study.add(config, axes);
  const auto today = study.points.back().id;
  if (today == id) return;
  study.points.pop_back();
  study.configs.erase(today);
  throw UserError(concat("run ", id, " of ", study.name, " is called ", today,
                         " by this difflab: its configuration means something else today"));
}

void add_known_run(Study& study, const PlannedRun& run) {
  add_known_run(study, read_run_config(config::from_json(run.config), run.id), run.id, run.axes);
}

}  // namespace difflab::cli
