// What the machine refuses: processes and folders.
#include "record/lease.h"
#include "record/status.h"
#include "support/catch.h"
#include "support/sweep_bench.h"

namespace difflab::sweep {
namespace {

using testing::make_runs, testing::SweepBench;

CATCH_TEST_CASE("runs for which the machine has no process wait until one has ended") {
  SweepBench bench(R"({"room": 1})");
  const auto outcome = bench.sweep(make_runs(bench.results, 3), 3, {.retries = 0});
  CATCH_CHECK(outcome.failures.empty());
  CATCH_CHECK(outcome.completed == 3);
  CATCH_CHECK(bench.notes.count("retry") == 0);
  CATCH_CHECK(bench.workers.starts().size() == 3);
}

CATCH_TEST_CASE("where no run gets a process each is tried as often as configured, and says why") {
  SweepBench bench(R"({"room": 0})");
  const auto outcome = bench.sweep(make_runs(bench.results, 2), 2, {.retries = 1});
  CATCH_REQUIRE(outcome.failures.size() == 2);
  CATCH_CHECK_THAT(outcome.failures[0].message,
                   Catch::StartsWith("cannot start a process: ") && Catch::EndsWith(", 2 times"));
  CATCH_CHECK(bench.notes.count("retry 1 of 1") == 2);
  bench.workers.set("{}");
  CATCH_CHECK(bench.sweep(make_runs(bench.results, 2)).completed == 2);
}

CATCH_TEST_CASE("where the worker program cannot be started the sweep ends, and says so") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 2);
  const LocalLauncher local{.workers = WorkerCount{2}};
  const auto launcher = local.build(bench.results / "no worker", 1, runs.size());
  CATCH_CHECK_THROWS_AS(execute(runs, *launcher, bench.notes, {}), UserError);
}

CATCH_TEST_CASE("a folder that cannot be read takes its own run alone") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 3);
  fs::create_directories(runs[1].directory.path);
  // Of a link to itself nobody can say whether there is something.
  fs::create_symlink("status.json", runs[1].directory.status());
  bench.notes.on_tick = [&](const std::vector<const Run*>&) {
    std::error_code none;
    if (fs::is_symlink(runs[2].directory.result(), none)) return;
    fs::create_directories(runs[2].directory.path, none);
    fs::create_symlink("result.json", runs[2].directory.result(), none);
  };
  bench.workers.set(R"({"steps": 20, "step_ms": 20})");
  const auto outcome = bench.sweep(runs, 1, {.order = RunOrder::kListed});
  CATCH_CHECK(outcome.completed == 2);
  CATCH_REQUIRE(outcome.failures.size() == 1);
  CATCH_CHECK(outcome.failures[0].run.id == runs[2].id);
}

CATCH_TEST_CASE("time for which a run waits for another process's stage is not its own") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 1);
  const RunDirectory stage{bench.results / "runs" / "stage"};
  fs::create_directories(stage.path);
  auto held = Lease::acquire(stage, [] { return false; });
  CATCH_REQUIRE(held);
  bench.workers.set(R"({"idle": ["seed: 0"]})");
  int seen = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto past = [&](double seconds) {
    return std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds);
  };
  bench.notes.on_tick = [&](const std::vector<const Run*>& running) {
    if (running.empty() || !held) return;
    write_status(runs[0].directory, RunState::kRunning, {}, "", "../stage");
    if (past(2) && !past(2.4)) seen += 1;
    if (past(2.4)) held.reset();
  };
  const auto outcome = bench.sweep(runs, 1, {.retries = 0, .timeout_seconds = 1});
  CATCH_CHECK(seen > 0);  // twice the time, and still there
  CATCH_REQUIRE(outcome.failures.size() == 1);
  CATCH_CHECK_THAT(outcome.failures[0].message, Contains("launcher.timeout_seconds, 1"));
}

}  // namespace
}  // namespace difflab::sweep
