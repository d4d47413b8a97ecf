#include <cstdint>

#include "cli/commands.h"
#include "study/study.h"

namespace difflab::cli {
namespace {

struct ShowOptions {
  std::vector<std::string> arguments;
  std::size_t run = 0;
  std::int64_t samples = 2;
  std::int64_t seed = 0;
  std::string split = "train";
  bool json = false;
};

const std::vector<std::string> kSplits = {"train", "valid", "test"};  // in the order of Split

void show(const ShowOptions& options) {
  const auto study = StudyArguments::of(options.arguments);
  const auto points = load_study(study.name, study.overrides).points;
  if (options.run >= points.size()) {
    throw UserError(concat("--run is ", options.run, "; expected 0 to ", points.size() - 1));
  }
  const Json task = {{"task", points[options.run].config.at("task")}};
  const auto split = std::find(kSplits.begin(), kSplits.end(), options.split) - kSplits.begin();
  std::vector<std::string> arguments{"show", task.dump(), std::to_string(options.seed),
                                     std::to_string(split), std::to_string(options.samples)};
  if (options.json) arguments.push_back("--json");
  become_worker(arguments);
}

}  // namespace

void add_show_command(CLI::App& app) {
  const auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      app.add_subcommand("show", "Print samples of a task: what the model sees and is asked");
  command->add_option(
      "overrides", options->arguments,
      "task=NAME task.KEY=VALUE …; an experiment's name before them shows its task");
  command->add_option("--run", options->run, "which run of the sweep, from 0")
      ->capture_default_str();
  command->add_option("--samples", options->samples, "sequences of each part of the task")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000));
  command->add_option("--seed", options->seed, "the run's seed")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--split", options->split, "train, valid or test")
      ->capture_default_str()
      ->check(CLI::IsMember(kSplits));
  command->add_flag("--json", options->json, "the same as JSON, with token numbers");
  command->callback([options] { show(*options); });
}

}  // namespace difflab::cli
