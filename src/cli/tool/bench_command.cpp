// difflab bench: attention, training steps and decoding in the worker, sweeps and starts from here.

#include <functional>

#include "cli/commands.h"
#include "study/study.h"
#include "sweep/execute.h"
#include "util/files.h"
#include "util/process.h"
#include "util/timing.h"

namespace difflab::cli {
namespace {

constexpr int kRounds = 9;

std::vector<std::string> smallest(int runs, const fs::path& results) {
  return {concat("seed=range(", runs, ")"),
          "results=" + results.string(),
          "launcher=local",
          "model.d_model=4",
          "model.layers=1",
          "model.attention.heads=1",
          "task.needle.length=32",
          "train.steps=1",
          "train.warmup_steps=0",
          "train.batch_size=1",
          "train.eval_samples=1",
          "evaluate=[{kind: heldout, samples: 1}]"};
}

void require_success(const std::vector<std::string>& argv) {
  const auto printed = run_program(argv);
  if (!printed.status.success()) {
    throw UserError(concat(join(argv, " "), ": ", printed.status.text(), "\n", printed.errors));
  }
}

// The worker's own start is over when it has read the end of its input.
void start_worker(const fs::path& worker) {
  Process process({worker.string(), "serve"});
  process.close_input();
  if (const auto status = process.wait(); !status.success()) {
    throw UserError(concat(worker.string(), ": ", status.text(), "\n", process.error_tail()));
  }
}

// Executes a sweep of runs that do next to nothing (one step of a model of width 4) with the real
// worker in a folder of its own, and prints what all that is not training costs: the plan, then
// per run process, claim, files with their syncs to disk, result.
void bench_sweep(int runs, bool json) {
  const ScratchFolder scratch("bench");
  const auto worker = find_worker();
  Study study;
  const double plan = seconds_of([&] { study = load_study("", smallest(runs, scratch.path())); });
  auto launcher = sweep::LocalLauncher{}.build(worker, 1, static_cast<std::size_t>(runs));
  const int workers = launcher->capacity();
  sweep::SweepOutcome outcome;
  const double execution = seconds_of([&] {
    const StopSignals signals;
    sweep::Observer silent;
    outcome = sweep::execute(study.points, *launcher, silent);
  });
  if (outcome.interrupted || outcome.completed != runs) {
    throw UserError(fmt::format("{} of {} runs were executed", outcome.completed, runs));
  }
  const double per_run = 1e3 * execution * workers / runs;
  if (json) {
    std::cout << Json{{"runs", runs},
                      {"workers", workers},
                      {"plan_seconds", plan},
                      {"execution_seconds", execution},
                      {"worker_milliseconds_per_run", per_run}}
                     .dump(1)
              << '\n';
    return;
  }
  std::cout << fmt::format(
      "{} runs of one step, {} workers\n  planned and checked   {:8.2f} s\n  executed              "
      "{:8.2f} s\n  a run costs a worker  {:8.2f} ms\n",
      runs, workers, plan, execution, per_run);
}

// Times what a person waits for before anything happens, nine rounds in turn.
void bench_startup(bool json) {
  struct Case {
    std::string name;
    std::function<void()> act;
    std::vector<double> milliseconds = {};
  };
  const auto self = executable_path().string();
  const auto worker = find_worker();
  std::vector<Case> cases;
  for (const char* words :
       {"--version", "list experiments", "config headline", "sweep headline --dry-run"}) {
    auto argv = split(words, ' ');
    argv.insert(argv.begin(), self);
    cases.push_back({concat("difflab ", words), [argv] { require_success(argv); }});
  }
  cases.push_back({"the worker, LibTorch loaded", [&] { start_worker(worker); }});
  for (int round = 0; round < kRounds; ++round) {
    for (auto& one : cases) one.milliseconds.push_back(1e3 * seconds_of(one.act));
  }
  Json list = Json::array();
  for (auto& one : cases) {
    const auto [middle, low, high] = spread_of(one.milliseconds);
    list.push_back({{"name", one.name},
                    {"median_milliseconds", middle},
                    {"quartile_milliseconds", {low, high}}});
    if (!json) {
      std::cout << fmt::format("  {:<34} {:8.1f} ms  ({:.1f} to {:.1f})\n", one.name, middle, low,
                               high);
    }
  }
  std::cout << (json ? list.dump(1) : concat("\nMedian and quartiles of ", kRounds, " rounds"))
            << '\n';
}

}  // namespace

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
      "Time attention, training steps, updates or decoding, or the cost of a sweep or start");
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
