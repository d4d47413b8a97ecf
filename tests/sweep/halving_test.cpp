// Successive halving on the fake worker, whose metrics are hashes of the configuration: the oracle
// is the same choice made by hand from runs that nothing stopped.
#include "sweep/plan/halving.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "support/catch.h"
#include "support/sweep_bench.h"
#include "util/error.h"
#include "util/process.h"

namespace difflab::sweep {
namespace {

namespace fs = std::filesystem;
using testing::SweepBench;

constexpr int kSteps = 12;

// Two models × four learning rates × two seeds, validated at every second step.
std::vector<Run> grid(const fs::path& results) {
  std::vector<Run> runs;
  for (const std::string model : {"a", "b"}) {
    for (const std::string lr : {"1", "2", "3", "4"}) {
      for (const std::string seed : {"0", "1"}) {
        const auto text = concat("model: ", model, "\nlr: ", lr, "\nseed: ", seed, "\n");
        const auto id = sha256_hex(text).substr(0, 16);
        runs.push_back({.id = id,
                        .axes = {{"model", model}, {"lr", lr}, {"seed", seed}},
                        .config = {{"train", {{"steps", kSteps}, {"eval_every", 2}}}},
                        .config_text = text,
                        .directory = {results / "runs" / id},
                        .work = kSteps});
      }
    }
  }
  return runs;
}

std::string label(const Run& run, int axis) {
  return run.axes[static_cast<std::size_t>(axis)].second;
}

// The learning rate that is left for a model when the better half goes on at step 4 and the best
// one at step 8, from the metrics of complete runs.
std::string best_by_hand(const std::vector<Run>& complete, const std::string& model) {
  std::vector<std::string> left{"1", "2", "3", "4"};
  for (const auto& [step, kept] : {std::pair{4, 2}, std::pair{8, 1}}) {
    const auto mean = [&, at = step](const std::string& lr) {
      double sum = 0;
      for (const auto& run : complete) {
        if (label(run, 0) != model || label(run, 1) != lr) continue;
        for (const auto& line : read_metrics(run.directory)) {
          if (line.at("step") == at) sum += line.at("valid_loss").get<double>() / 2;
        }
      }
      return sum;
    };
    std::sort(left.begin(), left.end(),
              [&](const auto& a, const auto& b) { return mean(a) < mean(b); });
    left.resize(static_cast<std::size_t>(kept));
  }
  return left.front();
}

SearchConfig search_of_lr() { return {.axis = "lr", .rungs = {1.0 / 3, 2.0 / 3}}; }

// The undisturbed runs of everything, for the choice by hand.
struct Everything {
  SweepBench bench;
  std::vector<Run> runs = grid(bench.results);
  Everything() {
    bench.workers.set(concat(R"({"live_metrics": true, "steps": )", kSteps, "}"));
    CATCH_REQUIRE(bench.sweep(runs, 4).completed == 16);
  }
};

CATCH_TEST_CASE("only the best value of each variant trains to the end, whatever was faster") {
  const Everything everything;
  for (const int at_once : {1, 5}) {
    SweepBench bench;
    bench.workers.set(concat(R"({"live_metrics": true, "step_ms": 60, "steps": )", kSteps, "}"));
    const auto runs = grid(bench.results);
    Halving search(search_of_lr(), runs);
    const auto outcome = bench.sweep(runs, at_once, {}, &search);
    CATCH_CHECK(outcome.failures.empty());
    CATCH_CHECK(outcome.unfinished == 0);
    CATCH_CHECK(outcome.completed + outcome.dropped == 16);
    CATCH_CHECK(outcome.completed >= 4);  // one that ended before it was asked to wait counts too
    CATCH_CHECK(outcome.dropped > 0);
    search.look();
    CATCH_CHECK(search.dropped() == 12);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const bool best = label(runs[i], 1) == best_by_hand(everything.runs, label(runs[i], 0));
      CATCH_INFO(runs[i].label());
      CATCH_CHECK((search.verdict(runs[i]) == Halving::Verdict::kGoOn) == best);
      if (!best) continue;
      CATCH_CHECK(read_file(runs[i].directory.result()) ==
                  read_file(everything.runs[i].directory.result()));
    }
    CATCH_CHECK(bench.notes.count("dropped ") == outcome.dropped);
    CATCH_CHECK(bench.notes.count("retry ") == 0);
    CATCH_CHECK(bench.notes.count("started ") == 16);

    // The next call finds the same choice in the files and nothing to do.
    Halving again(search_of_lr(), runs);
    again.look();
    CATCH_CHECK(again.dropped() == 12);
  }
}

CATCH_TEST_CASE("a search that is stopped in between goes on to the same choice") {
  const Everything everything;
  SweepBench bench;
  bench.workers.set(concat(R"({"live_metrics": true, "step_ms": 60, "steps": )", kSteps, "}"));
  const auto runs = grid(bench.results);
  int calls = 0;
  for (bool interrupted = true; interrupted; ++calls) {
    CATCH_REQUIRE(calls < 100);
    const StopSignals signals;
    int ticks = 0;
    bench.notes.on_tick = [&](const auto&) {
      if (++ticks == 8) ::raise(SIGINT);
    };
    Halving search(search_of_lr(), runs);
    interrupted = bench.sweep(runs, 3, {}, &search).interrupted;
  }
  CATCH_CHECK(calls > 2);
  int dropped = 0;
  for (const auto& run : runs) {
    const bool best = label(run, 1) == best_by_hand(everything.runs, label(run, 0));
    const bool finished = state_of(run.directory) == RunState::kFinished;
    if (best) CATCH_CHECK(finished);
    dropped += finished ? 0 : 1;
  }
  CATCH_CHECK(dropped > 0);
}

CATCH_TEST_CASE("values whose runs fail are not waited for and never chosen") {
  const Everything everything;
  const auto best = best_by_hand(everything.runs, "a");
  SweepBench bench;
  bench.workers.set(concat(R"({"live_metrics": true, "steps": )", kSteps,
                           R"(, "exit": {"model: a\nlr: )", best, R"(\n": 2}})"));
  const auto runs = grid(bench.results);
  Halving search(search_of_lr(), runs);
  const auto outcome = bench.sweep(runs, 3, {}, &search);
  CATCH_CHECK(outcome.failures.size() == 2);
  search.look();
  int finished = 0;
  for (const auto& run : runs) {
    if (search.verdict(run) != Halving::Verdict::kGoOn) continue;
    CATCH_CHECK(state_of(run.directory) == RunState::kFinished);
    CATCH_CHECK_FALSE((label(run, 0) == "a" && label(run, 1) == best));
    ++finished;
  }
  CATCH_CHECK(finished == 4);
}

CATCH_TEST_CASE("a run that was restored without its curve is not taken for a bad one") {
  SweepBench bench;
  const auto runs = grid(bench.results);
  for (const auto& run : runs) {
    write_config(run.directory, run.config_text);
    write_file_atomically(run.directory.provenance(), R"({"restored_from": "a/reference"})");
    write_file_atomically(run.directory.result(), R"({"schema": 1, "status": "finished"})");
  }
  Halving search(search_of_lr(), runs);
  CATCH_CHECK_THROWS_WITH(search.look(), Catch::Contains("was restored without the lines of"));
}

CATCH_TEST_CASE("the steps of a search are known before it starts") {
  SweepBench bench;
  const auto runs = grid(bench.results);
  const Halving search(search_of_lr(), runs);
  // Two models × two seeds: four values to step 4, two to step 8, one to step 12.
  CATCH_CHECK(search.steps() == 2 * 2 * (4 * 4 + 2 * 4 + 1 * 4));
  CATCH_CHECK(search.steps_without_search() == 16 * kSteps);
  CATCH_CHECK(search.text() == "lr: 4 values, 2 after 4 steps, 1 after 8 steps");
  // A share that is no whole number keeps one more, not one less.
  auto config = search_of_lr();
  config.keep = 0.6;
  CATCH_CHECK(Halving(config, runs).text() == "lr: 4 values, 3 after 4 steps, 1 after 8 steps");
}

CATCH_TEST_CASE("a search that cannot be done says why") {
  SweepBench bench;
  auto runs = grid(bench.results);
  const auto refusal = [&](const SearchConfig& config) -> std::string {
    try {
      Halving search(config, runs);
      bench.sweep(runs, 2, {}, &search);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CATCH_CHECK_THAT(refusal({.axis = "width"}), Catch::Contains("which the sweep does not vary"));
  CATCH_CHECK_THAT(refusal({.axis = "lr", .rungs = {0.1, 0.15}}),
                   Catch::Contains("falls on step 2"));
  CATCH_CHECK_THAT(refusal({.axis = "lr", .rungs = {0.95}}), Catch::Contains("falls on step 12"));
  bench.workers.set(concat(R"({"live_metrics": true, "step_ms": 5, "steps": )", kSteps, "}"));
  CATCH_CHECK_THAT(refusal({.axis = "lr", .metric = "valid_los"}),
                   Catch::Contains("valid_los is missing at step") &&
                       Catch::Contains("did you mean valid_loss"));
  runs[1].config["train"]["steps"] = 100;
  CATCH_CHECK_THAT(refusal({.axis = "lr"}), Catch::Contains("different numbers of steps"));
}

CATCH_TEST_CASE("of values that are equally good the first is kept") {
  SweepBench bench;
  const auto runs = grid(bench.results);
  for (const auto& run : runs) {
    fs::create_directories(run.directory.path);
    std::ofstream(run.directory.metrics()) << R"({"step":6,"valid_accuracy":1})" << '\n';
  }
  Halving equal({.axis = "lr", .metric = "valid_accuracy", .rungs = {0.5}}, runs);
  equal.look();
  for (const auto& run : runs) {
    CATCH_CHECK((equal.verdict(run) == Halving::Verdict::kGoOn) == (label(run, 1) == "1"));
  }
}

CATCH_TEST_CASE("a metric that is no number is the worst, and the highest can be best") {
  SweepBench bench;
  const auto runs = grid(bench.results);
  for (const auto& run : runs) {
    fs::create_directories(run.directory.path);
    const bool broken = label(run, 1) == "4";
    const Json line = {{"step", 6}, {"valid_accuracy", broken ? Json() : Json(label(run, 1)[0])}};
    std::ofstream(run.directory.metrics()) << line.dump() << '\n';
  }
  for (const auto& [goal, chosen] :
       {std::pair{Goal::kHighest, "3"}, std::pair{Goal::kLowest, "1"}}) {
    Halving search({.axis = "lr", .metric = "valid_accuracy", .goal = goal, .rungs = {0.5}}, runs);
    search.look();
    CATCH_CHECK(search.dropped() == 12);
    for (const auto& run : runs) {
      CATCH_CHECK((search.verdict(run) == Halving::Verdict::kGoOn) == (label(run, 1) == chosen));
    }
  }
}

CATCH_TEST_CASE("a run that stopped at its event counts with what it ended with") {
  SweepBench bench;
  const auto runs = grid(bench.results);
  for (const auto& run : runs) {
    fs::create_directories(run.directory.path);
    const auto lr = label(run, 1);
    const bool early = lr == "4", diverged = lr == "1";  // both end at step 2
    const Json line = {{"step", early || diverged ? 2 : 6},
                       {"valid_loss", early      ? 0.1
                                      : diverged ? 0.01
                                                 : 3.0}};
    std::ofstream(run.directory.metrics()) << line.dump() << '\n';
    if (!early && !diverged) continue;
    std::ofstream(run.directory.result())
        << Json{{"schema", 1},
                {"status", name_of(early ? RunState::kFinished : RunState::kDiverged)}}
               .dump();
  }
  Halving search({.axis = "lr", .rungs = {0.5}}, runs);
  search.look();
  CATCH_CHECK(search.dropped() == 12);
  for (const auto& run : runs) {
    CATCH_CHECK((search.verdict(run) == Halving::Verdict::kGoOn) == (label(run, 1) == "4"));
  }
}

}  // namespace
}  // namespace difflab::sweep
