// The limits and the order that launcher.* sets.
#include "support/catch.h"
#include "support/sweep_bench.h"

namespace difflab::sweep {
namespace {

using testing::make_runs, testing::SweepBench;

CATCH_TEST_CASE("the longest runs start first") {
  SweepBench bench;
  auto runs = make_runs(bench.results, 4);
  runs[2].work = 500;
  runs[1].work = 300;
  bench.sweep(runs, 1);
  const auto starts = bench.workers.starts();
  CATCH_REQUIRE(starts.size() == 4);
  CATCH_CHECK(starts[0].id == runs[2].id);
  CATCH_CHECK(starts[1].id == runs[1].id);
  CATCH_CHECK(starts[2].id == runs[0].id);
}

CATCH_TEST_CASE("runs start in the order that was asked for") {
  SweepBench bench;
  auto runs = make_runs(bench.results, 3);
  runs[0].work = 2;
  runs[1].work = 3;
  const auto order = [&](RunOrder asked) {
    fs::remove_all(bench.results);
    bench.workers.forget();
    bench.sweep(runs, 1, {.order = asked});
    std::string seeds;
    for (const auto& start : bench.workers.starts()) {
      for (int i = 0; i < 3; ++i) seeds += start.id == runs[i].id ? std::to_string(i) : "";
    }
    return seeds;
  };
  CATCH_CHECK(order(RunOrder::kLongest) == "102");
  CATCH_CHECK(order(RunOrder::kShortest) == "201");
  CATCH_CHECK(order(RunOrder::kListed) == "012");
}

CATCH_TEST_CASE("the number of retries is as configured, none included") {
  for (const int retries : {0, 5}) {
    SweepBench bench(R"({"signal": {"seed: 0": 9}})");
    const auto outcome = bench.sweep(make_runs(bench.results, 1), 1, {.retries = retries});
    CATCH_REQUIRE(outcome.failures.size() == 1);
    CATCH_CHECK(bench.workers.starts().size() == static_cast<std::size_t>(retries + 1));
  }
}

CATCH_TEST_CASE("a run over its time saves its state, has failed, and goes on in the next call") {
  SweepBench bench(R"({"steps": 100, "step_ms": 100})");
  const auto runs = make_runs(bench.results, 1);
  const auto outcome = bench.sweep(runs, 1, {.timeout_seconds = 0.5});
  CATCH_REQUIRE(outcome.failures.size() == 1);
  CATCH_CHECK_THAT(outcome.failures[0].message, Contains("launcher.timeout_seconds, 0.5"));
  CATCH_CHECK(bench.workers.starts().size() == 1);
  CATCH_CHECK(state_of(runs[0].directory) == RunState::kFailed);
  CATCH_CHECK(std::stoi(read_file(runs[0].directory.checkpoint())) > 0);
  bench.workers.set(R"({"steps": 100})");
  CATCH_CHECK(bench.sweep(runs).completed == 1);
}

CATCH_TEST_CASE("a run over its time that does not listen is killed") {
  SweepBench bench(R"({"hang": ["seed: 0"]})");
  const auto runs = make_runs(bench.results, 1);
  const auto outcome =
      bench.sweep(runs, 1, {.retries = 0, .timeout_seconds = 0.5, .late_grace_seconds = 0.5});
  CATCH_REQUIRE(outcome.failures.size() == 1);
  CATCH_CHECK_THAT(outcome.failures[0].message, Contains("launcher.timeout_seconds, 0.5"));
  CATCH_CHECK(bench.workers.starts().size() == 1);
  CATCH_CHECK(bench.workers.ends().empty());
}

CATCH_TEST_CASE("a run over its memory is killed once, and its siblings are not") {
  SweepBench bench(R"({"steps": 30, "step_ms": 100, "memory_mb": {"seed: 1": 200}})");
  const auto outcome = bench.sweep(make_runs(bench.results, 3), 3, {.memory_mb = 100});
  CATCH_CHECK(outcome.completed == 2);
  CATCH_REQUIRE(outcome.failures.size() == 1);
  CATCH_CHECK(outcome.failures[0].run.label() == "seed=1");
  CATCH_CHECK_THAT(outcome.failures[0].message, Contains("launcher.memory_mb allows 100"));
  CATCH_CHECK(bench.workers.starts().size() == 3);
}

CATCH_TEST_CASE("fail_fast stops at the first failure; the others keep their state") {
  SweepBench bench(R"({"steps": 2000, "step_ms": 5, "exit": {"seed: 1": 2}})");
  const auto runs = make_runs(bench.results, 4);
  const auto outcome = bench.sweep(runs, 2, {.fail_fast = true, .order = RunOrder::kListed});
  CATCH_CHECK_FALSE(outcome.interrupted);
  CATCH_CHECK(outcome.failures.size() == 1);
  CATCH_CHECK(outcome.unfinished == 3);
  CATCH_CHECK(state_of(runs[3].directory) == RunState::kNew);
}

}  // namespace
}  // namespace difflab::sweep
