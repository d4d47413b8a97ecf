#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "config/value/yaml.h"
#include "study/project.h"
#include "study/study.h"
#include "util/error.h"

namespace difflab::cli {
void redraw(const Study& study) {
  if (study.is_being_tuned()) {
    redraw(*study.tuning);
    std::cout << fmt::format("\nThe runs that are reported begin when {} is tuned.\n",
                             study.config.tune.key);
    return;
  }
  report_tuning(study);
  std::vector<const sweep::Run*> missing;
  const auto runs = study.needed_runs();
  for (const auto& run : runs) {
    if (!is_complete(state_of(run.directory))) missing.push_back(&run);
  }
  if (missing.size() == runs.size()) {
    throw UserError(fmt::format(
        "none of the {} runs of {} (preset {}) is finished in {}; run "
        "./difflab sweep {} first",
        runs.size(), study.name, study.preset, config::shown_path(study.results), study.name));
  }
  require_writable(study.output);
  std::cout << report::write_report(study.for_report()).text;
  if (missing.empty()) return;
  std::cout << fmt::format("\n{} of {} runs are not finished and not in the report:\n",
                           missing.size(), runs.size());
  for (const auto* run : missing) {
    std::cout << fmt::format("  {} ({})\n", run->label(), name_of(state_of(run->directory)));
  }
}

void add_plot_command(CLI::App& app, int&) {
  const auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command = app.add_subcommand(
      "plot", "Write table, figures and report again from the runs that are finished");
  add_study_arguments(*command, *arguments);
  command->callback([arguments] { redraw(load_study(arguments->name, arguments->overrides)); });
}

}  // namespace difflab::cli
