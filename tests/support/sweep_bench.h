#pragma once

#include <functional>

#include "support/fake_runs.h"
#include "sweep/execute.h"
#include "sweep/launcher/local.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::testing {

/// Runs of seeds 0 … count − 1.
inline std::vector<sweep::Run> make_runs(const std::filesystem::path& results, int count) {
  std::vector<sweep::Run> runs;
  for (int seed = 0; seed < count; ++seed) {
    const std::string config = concat("seed: ", seed, "\n");
    const std::string id = sha256_hex(config).substr(0, 16);
    runs.push_back({.id = id,
                    .axes = {{"seed", std::to_string(seed)}},
                    .config = {{"seed", seed}},
                    .config_text = config,
                    .directory = {results / "runs" / id}});
  }
  return runs;
}

/// Notes what it is told, and does something at every tick.
struct Notes : sweep::Observer {
  std::vector<std::string> lines;
  std::function<void(const std::vector<const sweep::Run*>&)> on_tick;

  void started(const sweep::Run& run) override { lines.push_back("started " + run.label()); }
  void completed(const sweep::Run& run, RunState state) override {
    lines.push_back(concat(name_of(state), " ", run.label()));
  }
  void failed(const sweep::Run& run, const std::string& message) override {
    lines.push_back(concat("failed ", run.label(), ": ", message));
  }
  void retried(const sweep::Run& run, const std::string& reason, int attempt, int most) override {
    lines.push_back(concat("retry ", attempt, " of ", most, " ", run.label(), ": ", reason));
  }
  void unreachable(const std::string& reason) override { lines.push_back("unreachable " + reason); }
  void stopping() override { lines.push_back("stopping"); }
  void tick(const std::vector<const sweep::Run*>& running) override {
    if (on_tick) on_tick(running);
  }
  int count(const std::string& word) const {
    int found = 0;
    for (const auto& line : lines) found += line.find(word) != line.npos ? 1 : 0;
    return found;
  }
};

/// Sweeps of the fake worker in a folder of their own.
struct SweepBench {
  /// @param knobs of its workers
  explicit SweepBench(const std::string& knobs = "{}") { workers.set(knobs); }

  FakeWorkers workers;
  std::filesystem::path results =
      workers.folder() / "results of today";  // with blanks, as users have them
  Notes notes;

  sweep::SweepOutcome sweep(const std::vector<sweep::Run>& runs, int at_once = 2,
                            const sweep::Policy& policy = {}) {
    const sweep::LocalLauncher local{.workers = sweep::WorkerCount{at_once}};
    return sweep::execute(runs, *local.build(FakeWorkers::program(), 1, runs.size()), notes,
                          policy);
  }
};

}  // namespace difflab::testing
