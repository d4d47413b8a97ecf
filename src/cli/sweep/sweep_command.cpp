#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/sweep/plan_table.h"
#include "cli/sweep/run_study.h"
#include "config/compose/compose.h"
#include "config/compose/library.h"
#include "config/value/yaml.h"
#include "study/expected_time.h"
#include "study/fairness.h"
#include "study/project.h"
#include "sweep/plan/plan.h"
#include "util/error.h"
#include "util/exit_code.h"
#include "util/text.h"

namespace difflab::cli {
namespace {

struct SweepOptions {
  StudyArguments study;
  bool dry_run = false;
  bool json = false;
  bool freeze = false;
};

// "headline", "headline,char_lm", or "all" for every file in experiments/.
std::vector<std::string> experiments_named(const std::string& names) {
  if (names == "all") {
    return own_experiments();
  }
  auto all = split(names, ',');
  if (all.empty() || std::find(all.begin(), all.end(), "") != all.end()) {
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

// The runs that find the tuned values come first, and again while their grid grows.
int run_tuned(const Study& study, bool is_first = true) {
  if (study.is_being_tuned()) {
    const Study& tuning = *study.tuning;
    if (const auto few = too_few_seeds(study); is_first && !few.empty()) {
      std::cout << fmt::format("warning    of the runs after the tuning: {}\n", few);
    }
    const int code = run_study(tuning, [&] { return write_report(tuning); });
    if (code != kDone || sweep::batch_system(study.config.launcher)) return code;
    std::cout << '\n';
    return run_tuned(tune_again(study), /*is_first=*/false);
  }
  report_tuning(study);  // of the whole grid
  return run_study(study, [&] { return write_report(study); });
}

// One after the other; runs that two of them share are run once. What fails is said, and the rest
// goes on.
int run_all(const std::vector<Study>& studies, bool freezing) {
  int exit_code = 0;
  for (const auto& study : studies) {
    if (&study != &studies.front()) std::cout << '\n';
    try {
      const int code = freezing ? freeze(study) : run_tuned(study);
      if (code == kInterrupted) return code;
      exit_code = std::max(exit_code, code);
    } catch (const UserError& error) {
      if (studies.size() == 1) throw;
      std::cerr << fmt::format("error: {}: {}\n", study.name, error.what());
      exit_code = kUserError;
    }
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
      require_machine(study.current());
      std::cout << (options->json ? plan_json(study) : plan_table(study));
    }
  });
}

}  // namespace difflab::cli
