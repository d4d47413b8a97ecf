// difflab bench: attention, training steps and decoding in the worker, sweeps and starts from here.
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/tool/overhead.h"
#include "study/project.h"
#include "util/error.h"

namespace difflab::cli {

void add_bench_command(CLI::App& app) {
  struct Options {
    std::string what;
    int threads = 1;
    std::string device = "cpu";
    int runs = 1000;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "bench",
      "Time attention, training steps, updates or decoding, or what a sweep and a start cost");
  command
      ->add_option("what", options->what, "attention, train, optimizer, decode, sweep or startup")
      ->required()
      ->check(CLI::IsMember({"attention", "train", "optimizer", "decode", "sweep", "startup"}));
  const CLI::Option* threads =
      command->add_option("--threads", options->threads, "all but sweep and startup: threads")
          ->capture_default_str()
          ->check(CLI::Range(1, 1024));
  const CLI::Option* device =
      command->add_option("--device", options->device, "all but sweep and startup: cpu or cuda")
          ->capture_default_str()
          ->check(CLI::IsMember({"cpu", "cuda"}));
  const CLI::Option* runs =
      command->add_option("--runs", options->runs, "sweep: how many runs of one step each")
          ->capture_default_str()
          ->check(CLI::Range(1, 100'000));
  command->add_flag("--json", options->json, "the same as JSON");
  command->callback([options, threads, device, runs] {
    const bool of_driver = options->what == "sweep" || options->what == "startup";
    if (of_driver && threads->count() > 0) {
      throw UserError("--threads is for bench attention, train, optimizer and decode");
    }
    if (of_driver && device->count() > 0) {
      throw UserError("--device is for bench attention, train, optimizer and decode");
    }
    if (options->what != "sweep" && runs->count() > 0) throw UserError("--runs is for bench sweep");
    if (options->what == "sweep") return bench_sweep(options->runs, options->json);
    if (options->what == "startup") return bench_startup(options->json);
    std::vector<std::string> arguments{"bench", options->what, std::to_string(options->threads),
                                       options->device};
    if (options->json) arguments.push_back("--json");
    become_worker(arguments);
  });
}

}  // namespace difflab::cli
