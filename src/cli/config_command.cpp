#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/study.h"
#include "config/writer.h"
#include "config/yaml.h"
#include "util/error.h"

namespace difflab::cli {
namespace {

struct Options {
  StudyArguments study;
  std::size_t run = 0;
};

void print_config(const Options& options) {
  const auto study = load_study(options.study.name, options.study.overrides);
  if (options.run >= study.points.size()) {
    throw UserError(
        fmt::format("--run is {}; expected 0 to {}", options.run, study.points.size() - 1));
  }
  const auto& run = study.points[options.run];
  std::cout << fmt::format("# {} (preset {}): what the experiment reports\n", study.name,
                           study.preset)
            << config::to_yaml(config::write(study.config))
            << fmt::format("\n# run {} of {}, {}: {}\n", options.run, study.points.size(), run.id,
                           run.label())
            << run.config_text;
}

}  // namespace

void add_config_command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "config", "Print the resolved configuration of an experiment and of one of its runs");
  add_study_arguments(*command, options->study);
  command->add_option("--run", options->run, "which run of the sweep, from 0")
      ->capture_default_str();
  command->callback([options] { print_config(*options); });
}

}  // namespace difflab::cli
