#include <map>
#include <set>

#include "cli/commands.h"
#include "cli/sweep/run_study.h"
#include "config/value/yaml.h"
#include "run/trained_runs.h"
#include "study/expected_time.h"
#include "study/fairness.h"
#include "util/json.h"
#include "util/process.h"

namespace difflab::cli {
namespace {

using TableRow = std::vector<std::string>;

std::string state_text(const sweep::Run& run) {
  return std::string(name_of(state_of(run.directory)));
}

// Core-hours of the trainings that are missing, as a text, and when they would be done. Of a study
// that is being tuned all runs count: with the value that is found each of them is another run.
std::string cost_text(const Study& study, const char* bound) {
  auto runs = sweep::distinct(study.points);
  if (!study.is_being_tuned()) {
    std::set<std::string> trainings;
    std::erase_if(runs, [&](const sweep::Run& run) {
      return is_complete(state_of(run.directory)) ||
             (!run.training.empty() && !trainings.insert(run.training).second) ||
             !runs_with_training(study.results, run.training, /*without=*/"").empty();
    });
  }
  if (runs.empty()) return "";
  count_operations(study, runs);
  double operations = 0;
  for (const auto& run : runs) operations += run.operations;
  constexpr double kRate = 5e10;  // of a core, where nothing is known: half of a large product's
  auto text = fmt::format("{} {:.1f} core-hours at 50 GFLOP/s", bound, operations / kRate / 3600);
  const auto& launcher = study.config.launcher;
  int workers = 0;  // known only where this process hands the runs out
  if (const auto* local = std::get_if<sweep::LocalLauncher>(&launcher)) {
    workers = local->workers.resolve(study.threads_per_run);
  } else if (const auto* there = std::get_if<sweep::SshLauncher>(&launcher)) {
    workers = static_cast<int>(there->hosts.size()) * static_cast<int>(there->workers);
  }
  if (workers > 0) {
    const auto when = expected_end(study, runs, std::min(workers, static_cast<int>(runs.size())));
    text += "; when done: " + when;
  }
  return text;
}

std::string table_of(const Study& study) {
  std::vector<TableRow> rows(1, {"run"});
  if (!study.points.empty()) {
    for (const auto& [axis, value] : study.points.front().axes) rows[0].push_back(axis);
  }
  rows[0].emplace_back("state");
  for (const auto& point : study.points) {
    TableRow row{point.id};
    for (const auto& [axis, value] : point.axes) row.push_back(value);
    row.push_back(state_text(point));
    rows.push_back(std::move(row));
  }
  const auto runs = sweep::distinct(study.points);
  std::map<std::string, int> counts;
  for (const auto& run : runs) ++counts[state_text(run)];
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) parts.push_back(concat(count, " ", state));
  std::string text = fmt::format("experiment {} (preset {}), output {}\n\n", study.name,
                                 study.preset, config::shown_path(study.output));
  text += aligned(rows);
  text += fmt::format("\n{} runs: {}\n", runs.size(), join(parts));
  if (runs.size() < study.points.size()) {
    text += fmt::format("{} points share a run with another of the same configuration\n",
                        study.points.size() - runs.size());
  }
  if (const auto few = too_few_seeds(study); !few.empty()) text += "warning: " + few + "\n";
  return text;
}

std::string notes_of(const Study& study) {
  std::string text;
  for (const auto& note : study.notes) text += concat("note: ", note, "\n");
  return text;
}

constexpr const char* kNothingWritten = "dry run: nothing was run or written\n";

// One line per point of the sweep (id, axes, state), then how many runs are in which state.
std::string plan_table(const Study& study) {
  if (study.is_being_tuned()) {
    std::set<std::string> seeds;
    for (const auto& run : study.tuning->points) seeds.insert(run.axes.back().second);
    const auto few = too_few_seeds(study);
    const auto& tune = study.config.tune;
    const auto count = static_cast<std::int64_t>(seeds.size());
    const bool has_all = count >= tune.seeds;
    return concat(
        table_of(*study.tuning), "then ",
        has_all ? "" : "the other seeds of values that may be the best, then ",
        count > tune.seeds || tune.again == 0
            ? ""
            : concat(tune.again, " more seeds of the best two values of each variant, then "),
        sweep::distinct(study.points).size(), " runs with the ", study.config.tune.key,
        " that these find for each variant",
        study.config.tune.grow ? "; before them more values if the best lies at an edge of the grid"
                               : "",
        study.config.tune.longer > 0 ? "; before them longer runs where no value works" : "",
        "\ntraining: the tuning runs above ", cost_text(*study.tuning, "about"),
        "\ntraining: the runs then ", cost_text(study, "at most"), "\n",
        few.empty() ? "" : concat("warning: ", few, "\n"), notes_of(study), kNothingWritten);
  }
  const auto cost = cost_text(study, "at most");
  return concat(table_of(study), cost.empty() ? "" : concat("training: ", cost, "\n"),
                notes_of(study), kNothingWritten);
}

// The same for programs: [{"id", "axes": {…}, "state", "directory"}, …].
std::string plan_json(const Study& study) {
  if (study.is_being_tuned()) return plan_json(*study.tuning);
  Json list = Json::array();
  for (const auto& point : study.points) {
    list.push_back({{"id", point.id},
                    {"axes", Json::object_t(point.axes.begin(), point.axes.end())},
                    {"state", state_text(point)},
                    {"directory", point.directory.path.string()}});
  }
  return list.dump(1) + "\n";
}

struct SweepOptions {
  StudyArguments study;
  bool dry_run = false;
  bool json = false;
  bool freeze = false;
};

// "headline", "headline,char_lm", or "all" for every file in experiments/.
std::vector<std::string> experiments_named(const std::string& names) {
  if (names == "all") return own_experiments();
  auto all = split(names, ',');
  if (all.empty() || is_among("", all)) {
    throw UserError(concat("'", names,
                           "' has an empty name; expected an experiment, several with "
                           "commas between them, or all"));
  }
  return all;
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

int freeze(const Study& whole) {
  const Study& study = whole.current();
  auto plan = study.frozen();
  count_operations(study, plan.runs);
  require_writable(study.results / "runs");
  sweep::write_plan(study.output, plan);
  const auto folder = quoted_for_shell(config::shown_path(study.output));
  std::cout << fmt::format(
      "frozen     {0}\nexecute it with {1} work {0}, in as many processes and on as many "
      "machines that see the folder as you like\n",
      folder, program_name());
  return 0;
}

// One line for a program: what has become of an experiment's runs, and where its report lies.
void print_json(const Study& study, int code) {
  const auto runs = sweep::distinct(study.points);
  std::map<RunState, int> counts;
  for (const auto state : sweep::states_of(runs)) ++counts[state];
  const Json json{{"experiment", study.name},
                  {"preset", study.preset},
                  {"output", study.output.string()},
                  {"exit_code", code},
                  {"planned", runs.size()},
                  {"finished", counts[RunState::kFinished]},
                  {"diverged", counts[RunState::kDiverged]},
                  {"failed", counts[RunState::kFailed]}};
  std::cout << json.dump() << std::endl;
}

// The runs that find the tuned values come first, and again while their grid grows.
int run_tuned(const Study& study, bool json, bool is_first = true) {
  if (study.is_being_tuned()) {
    const Study& tuning = *study.tuning;
    if (const auto few = too_few_seeds(study); is_first && !few.empty()) {
      std::cout << fmt::format("warning    of the runs after the tuning: {}\n", few);
    }
    const int code = run_study(tuning, [&] { return write_report(tuning); });
    if (code != kDone || sweep::batch_system(study.config.launcher)) {
      if (json) print_json(study, code);
      return code;
    }
    std::cout << '\n';
    return run_tuned(tune_again(study), json, /*is_first=*/false);
  }
  report_tuning(study);  // of the whole grid
  const int code = run_study(study, [&] { return write_report(study); });
  if (json) print_json(study, code);
  return code;
}

// One after the other; runs that two of them share are run once. What fails is said, and the rest
// goes on.
int run_all(const std::vector<Study>& studies, bool freezing, bool json) {
  int exit_code = 0;
  for (const auto& study : studies) {
    if (&study != &studies.front()) std::cout << '\n';
    try {
      const int code = freezing ? freeze(study) : run_tuned(study, json);
      if (code == kInterrupted) return code;
      exit_code = std::max(exit_code, code);
    } catch (const UserError& error) {
      if (studies.size() == 1) throw;
      std::cerr << fmt::format("error: {}: {}\n", study.name, error.what());
      exit_code = kUserError;
      if (json) print_json(study, kUserError);
    }
  }
  return exit_code;
}

}  // namespace

void add_sweep_command(CLI::App& app) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* command = app.add_subcommand(
      "sweep", "Run what is missing of an experiment, then write its table, figures and report");
  command
      ->add_option("experiment", options->study.name,
                   "a file in experiments/, e.g. headline; sweep also takes several "
                   "(headline,char_lm) or all")
      ->required();
  command->add_option(
      "overrides", options->study.overrides,
      "preset=smoke, key=value, group=option; key=a,b or key=range(3) on a key makes it a sweep "
      "axis; results=DIR says where everything goes");
  command->add_flag("--dry-run", options->dry_run,
                    "check everything and list the runs; run and write nothing");
  command->add_flag("--json", options->json,
                    "end with one JSON object per experiment: output, planned, finished, failed …; "
                    "with --dry-run the list of runs");
  command->add_flag("--freeze", options->freeze,
                    "write the runs to disk for `difflab work` and run nothing");
  command->callback([options] {
    if (options->json && options->freeze) throw UserError("--freeze has no --json");
    const auto studies = load_studies(options->study);
    if (options->json && options->dry_run && studies.size() > 1) {
      throw UserError("--dry-run --json is for one experiment");
    }
    if (!options->dry_run) {
      return exit_with(run_all(studies, options->freeze, options->json));
    }
    for (const auto& study : studies) {
      require_machine(study.current());
      std::cout << (options->json ? plan_json(study) : plan_table(study));
    }
  });
}

}  // namespace difflab::cli
