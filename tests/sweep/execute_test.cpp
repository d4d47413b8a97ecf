#include "sweep/execute.h"

#include <csignal>

#include "record/lease.h"
#include "record/log/event_log.h"
#include "support/catch.h"
#include "support/sweep_bench.h"
#include "util/exit_code.h"
#include "util/process.h"

namespace difflab::sweep {
namespace {

using testing::FakeWorkers, testing::make_runs, testing::Notes, testing::SweepBench;

std::map<std::string, std::string> results_of(const std::vector<Run>& runs) {
  std::map<std::string, std::string> texts;
  for (const auto& run : runs) texts[run.label()] = read_file(run.directory.result());
  return texts;
}

// What the same runs give when nothing disturbs them.
std::map<std::string, std::string> undisturbed(int count) {
  SweepBench bench;
  const auto runs = make_runs(bench.results, count);
  CATCH_REQUIRE(bench.sweep(runs).completed == count);
  return results_of(runs);
}

CATCH_TEST_CASE("every run is executed once, and nothing is executed again") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 5);
  CATCH_CHECK(state_of(runs[0].directory) == RunState::kNew);
  auto outcome = bench.sweep(runs);
  CATCH_CHECK(outcome.completed == 5);
  CATCH_CHECK(outcome.failures.empty());
  CATCH_CHECK_FALSE(outcome.interrupted);
  CATCH_CHECK(bench.workers.ends().size() == 5);
  CATCH_CHECK(state_of(runs[4].directory) == RunState::kFinished);
  CATCH_CHECK(read_file(runs[3].directory.config()) == "seed: 3\n");

  outcome = bench.sweep(runs);
  CATCH_CHECK(outcome.completed == 0);
  CATCH_CHECK(bench.workers.starts().size() == 5);
}

CATCH_TEST_CASE("runs that share a training wait for the first of them, others do not") {
  SweepBench bench(R"({"step_ms": 50, "steps": 20})");
  auto runs = make_runs(bench.results, 6);
  for (std::size_t i = 0; i < 3; ++i) runs[i].training = "one";
  runs[3].training = "two";  // 4 and 5 have none
  std::map<std::string, std::size_t> most;
  bool has_one = false;  // a run with this training has ended
  bench.notes.on_tick = [&](const std::vector<const Run*>& running) {
    has_one = has_one || std::any_of(runs.begin(), runs.begin() + 3, [](const Run& run) {
                return is_complete(state_of(run.directory));
              });
    std::size_t ones = 0;
    for (const auto* run : running) ones += run->training == "one" ? 1 : 0;
    auto& before = most[has_one ? "later" : "first"];
    before = std::max(before, ones);
    most["all"] = std::max(most["all"], running.size());
  };
  CATCH_CHECK(bench.sweep(runs, 6).completed == 6);
  CATCH_CHECK(most["first"] == 1);
  CATCH_CHECK(most["later"] == 2);
  CATCH_CHECK(most["all"] >= 4);
}

CATCH_TEST_CASE("all runs share one worker process, and as many execute at once as asked") {
  SweepBench bench(R"({"steps": 15, "step_ms": 10})");
  const auto runs = make_runs(bench.results, 6);
  std::size_t most = 0;
  bench.notes.on_tick = [&](const auto& running) { most = std::max(most, running.size()); };
  bench.sweep(runs, 3);
  CATCH_CHECK(most == 3);
  std::set<int> servers;
  for (const auto& start : bench.workers.starts()) servers.insert(start.server);
  CATCH_CHECK(servers.size() == 1);
}

CATCH_TEST_CASE("a run whose folder was deleted is executed again, alone, with the same result") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 4);
  bench.sweep(runs);
  const auto before = results_of(runs);
  fs::remove_all(runs[2].directory.path);
  bench.workers.forget();
  CATCH_CHECK(bench.sweep(runs).completed == 1);
  CATCH_REQUIRE(bench.workers.starts().size() == 1);
  CATCH_CHECK(bench.workers.starts()[0].id == runs[2].id);
  CATCH_CHECK(results_of(runs) == before);
}

CATCH_TEST_CASE("failures are told all together with their own words, and fail only themselves") {
  SweepBench bench(R"({"exit": {"seed: 1": 2, "seed: 3": 70}})");
  const auto runs = make_runs(bench.results, 5);
  auto outcome = bench.sweep(runs);
  CATCH_CHECK(outcome.completed == 3);
  CATCH_REQUIRE(outcome.failures.size() == 2);
  CATCH_CHECK(outcome.failures[0].run.label() == "seed=1");
  CATCH_CHECK(outcome.failures[0].message == "the fake task is impossible");
  CATCH_CHECK(outcome.failures[1].run.label() == "seed=3");
  CATCH_CHECK(outcome.failures[1].message == "exit code 70: the fake run gives up");
  CATCH_CHECK(state_of(runs[1].directory) == RunState::kFailed);
  CATCH_CHECK(bench.workers.starts().size() == 5);  // none was tried twice

  // The next call runs the failed ones, and only them.
  bench.workers.set("{}");
  bench.workers.forget();
  outcome = bench.sweep(runs);
  CATCH_CHECK(outcome.completed == 2);
  CATCH_CHECK(bench.workers.starts().size() == 2);
  CATCH_CHECK(results_of(runs) == undisturbed(5));
}

CATCH_TEST_CASE("a run that ends well but leaves no result has failed") {
  SweepBench bench(R"({"exit": {"seed: 0": 0}})");
  const auto outcome = bench.sweep(make_runs(bench.results, 1));
  CATCH_REQUIRE(outcome.failures.size() == 1);
  CATCH_CHECK(outcome.failures[0].message == "ended without a result");
}

CATCH_TEST_CASE("a crash is tried again twice, then it is a failure") {
  SweepBench bench(R"({"signal": {"seed: 1": 11, "seed: 2": 9}, "signal_times": 2})");
  auto runs = make_runs(bench.results, 3);
  CATCH_CHECK(bench.sweep(runs).completed == 3);
  CATCH_CHECK(bench.notes.count("retry") == 4);
  CATCH_CHECK(results_of(runs) == undisturbed(3));

  bench.workers.set(R"({"signal": {"seed: 4": 11}})");
  runs = make_runs(bench.results, 5);
  const auto outcome = bench.sweep(runs);
  CATCH_INFO(join(bench.notes.lines, "\n"));
  CATCH_CHECK(outcome.completed == 1);
  CATCH_REQUIRE(outcome.failures.size() == 1);
  CATCH_CHECK(outcome.failures[0].message == "killed by signal 11 (Segmentation fault), 3 times");
}

CATCH_TEST_CASE("a worker process killed in mid-sweep is replaced and its runs start again") {
  SweepBench bench;
  // No run can end before the second worker process was killed too.
  bench.workers.set(R"({"hang": ["seed"]})");
  const auto runs = make_runs(bench.results, 6);
  std::set<int> killed;
  bench.notes.on_tick = [&](const auto&) {
    const auto starts = bench.workers.starts();
    if (starts.empty() || killed.size() == 2 || !killed.insert(starts.back().server).second) return;
    if (killed.size() == 2) bench.workers.set(R"({"steps": 8})");
    ::kill(starts.back().server, SIGKILL);
  };
  CATCH_CHECK(bench.sweep(runs).completed == 6);
  CATCH_CHECK(killed.size() == 2);
  CATCH_CHECK(bench.notes.count("the worker program ended: killed by signal 9") >= 2);
  for (const auto& [id, times] : bench.workers.ends()) CATCH_CHECK(times == 1);
  bench.workers.set("{}");
  CATCH_CHECK(results_of(runs).size() == 6);
  for (const auto& run : runs) {
    CATCH_CHECK(read_result(run.directory)->at("metrics").at("steps") == 8);
  }
}

CATCH_TEST_CASE("a single run killed from outside starts again") {
  SweepBench bench(R"({"steps": 1000000, "step_ms": 20})");
  const auto runs = make_runs(bench.results, 3);
  bool killed = false;
  bench.notes.on_tick = [&](const auto&) {
    const auto starts = bench.workers.starts();
    if (killed || starts.empty()) return;
    killed = ::kill(starts[0].pid, SIGKILL) == 0;
    bench.workers.set(R"({"steps": 15})");
  };
  CATCH_CHECK(bench.sweep(runs, 1).completed == 3);
  CATCH_CHECK(bench.notes.count("killed by signal 9") == 1);
}

CATCH_TEST_CASE("a worker process that cannot start says why, once") {
  SweepBench bench(R"({"no_start": 127})");
  CATCH_CHECK_THROWS_WITH(bench.sweep(make_runs(bench.results, 50)),
                          Contains("does not start (exit code 127)") &&
                              Contains("cannot load the library of the fake worker"));
}

CATCH_TEST_CASE("the first stop signal lets runs save their state, and the next call goes on") {
  SweepBench bench(R"({"steps": 1000000, "step_ms": 25})");
  const auto runs = make_runs(bench.results, 4);
  {
    const StopSignals signals;
    bench.notes.on_tick = [&](const auto& running) {
      const bool under_way = running.size() == 2 && StopSignals::count() == 0 &&
                             fs::exists(running[0]->directory.checkpoint()) &&
                             fs::exists(running[1]->directory.checkpoint());
      if (under_way) ::raise(SIGINT);
    };
    const auto outcome = bench.sweep(runs);
    CATCH_CHECK(outcome.interrupted);
    CATCH_CHECK(outcome.completed == 0);
    CATCH_CHECK(outcome.unfinished == 4);
    CATCH_CHECK(outcome.failures.empty());
    CATCH_CHECK(bench.notes.count("stopping") == 1);
  }
  CATCH_CHECK(state_of(runs[0].directory) == RunState::kInterrupted);
  CATCH_CHECK(state_of(runs[3].directory) == RunState::kNew);
  bench.notes.on_tick = nullptr;
  bench.workers.set(R"({"steps": 20})");
  CATCH_CHECK(bench.sweep(runs).completed == 4);
}

CATCH_TEST_CASE("the second stop signal kills runs that do not listen") {
  SweepBench bench(R"({"hang": ["seed: 0"]})");
  const auto runs = make_runs(bench.results, 1);
  const StopSignals signals;
  bench.notes.on_tick = [&](const auto&) {
    if (!bench.workers.starts().empty() && StopSignals::count() < 2) ::raise(SIGINT);
  };
  const auto outcome = bench.sweep(runs);
  CATCH_CHECK(outcome.interrupted);
  CATCH_CHECK(outcome.unfinished == 1);
  // Its lock goes with it, a moment later.
  CATCH_CHECK(
      testing::eventually([&] { return state_of(runs[0].directory) == RunState::kInterrupted; }));
}

CATCH_TEST_CASE("after one stop signal runs that do not listen are killed in time") {
  SweepBench bench(R"({"hang": ["seed: 0"]})");
  const auto runs = make_runs(bench.results, 1);
  const StopSignals signals;
  bench.notes.on_tick = [&](const auto&) {
    if (!bench.workers.starts().empty() && StopSignals::count() == 0) ::raise(SIGINT);
  };
  const auto outcome = bench.sweep(runs, 1, {.stop_grace_seconds = 0.5});
  CATCH_CHECK(outcome.interrupted);
  CATCH_CHECK(outcome.unfinished == 1);
}

CATCH_TEST_CASE("a sweep knows what its own runs spent, and not what others did") {
  SweepBench bench(R"({"training_ms": 1500})");
  auto runs = make_runs(bench.results, 4);
  const auto now = bench.sweep({runs[0], runs[1]});
  CATCH_CHECK(now.spent.training == 3);
  CATCH_CHECK(now.spent.sum() == 3);
  note_time(runs[2].directory, {.training = 7});  // by an earlier call
  CATCH_CHECK(bench.sweep(runs).spent.training == 3);
  CATCH_CHECK(bench.sweep(runs).spent.sum() == 0);
}

CATCH_TEST_CASE("a run that another sweep is at is left to it, and its result is taken") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 2);
  fs::create_directories(runs[0].directory.path);
  auto other = Lease::acquire(runs[0].directory, [] { return false; });
  CATCH_CHECK(state_of(runs[0].directory) == RunState::kRunning);
  bench.notes.on_tick = [&](const auto& running) {
    // It takes no place among ours while we cannot do anything about it.
    for (const auto* run : running) CATCH_CHECK(run->id == runs[1].id);
    if (!other || !fs::exists(runs[1].directory.result())) return;
    const Json result = {{"schema", kResultSchema}, {"status", "diverged"}};
    write_file_atomically(runs[0].directory.result(), result.dump());
    other.reset();
  };
  CATCH_CHECK(bench.sweep(runs).completed == 2);
  CATCH_CHECK(bench.workers.starts().size() == 1);
  CATCH_CHECK(bench.notes.count("diverged seed=0") == 1);
}

CATCH_TEST_CASE("a run that stood still and was overtaken by another sweep is executed once") {
  SweepBench bench;
  ::setenv("DIFFLAB_LEASE_SECONDS", "0.5", 1);
  bench.workers.set(R"({"steps": 1000000, "step_ms": 20})");
  const auto runs = make_runs(bench.results, 1);
  bool stopped = false, woken = false;
  std::thread other;
  bench.notes.on_tick = [&](const auto&) {
    const auto starts = bench.workers.starts();
    if (!stopped && !starts.empty() && fs::exists(runs[0].directory.checkpoint())) {
      stopped = ::kill(starts[0].pid, SIGSTOP) == 0;
      bench.workers.set(R"({"steps": 20, "step_ms": 20})");
      other = std::thread([&] {
        Notes silent;
        const auto launcher = LocalLauncher{}.build(FakeWorkers::program(), 1, runs.size());
        execute(runs, *launcher, silent);
      });
    }
    if (stopped && !woken && starts.size() == 2) woken = ::kill(starts[0].pid, SIGCONT) == 0;
  };
  CATCH_CHECK(bench.sweep(runs).completed == 1);
  CATCH_REQUIRE(other.joinable());
  other.join();
  ::unsetenv("DIFFLAB_LEASE_SECONDS");
  CATCH_CHECK(bench.workers.starts().size() == 2);
  CATCH_CHECK(bench.workers.ends().at(runs[0].id) == 1);
}

/// A launcher of one run at a time, whose runs end as the script says: with these exit codes, or
/// killed by these signals if negative; after the script with a result.
class ScriptedLauncher : public Launcher {
 public:
  explicit ScriptedLauncher(std::vector<int> script) : script_(std::move(script)) {}

  int capacity() const override { return 1; }
  void submit(const fs::path& directory) override { running_.push_back(directory); }
  void interrupt() override {}
  void kill() override {}
  std::vector<JobEnd> wait(std::chrono::milliseconds) override {
    std::vector<JobEnd> ends;
    for (const auto& directory : std::exchange(running_, {})) {
      const int code = starts_ < script_.size() ? script_[starts_] : 0;
      if (starts_++ >= script_.size()) {
        const Json result = {{"schema", kResultSchema}};
        write_file_atomically(RunDirectory{directory}.result(), result.dump());
      }
      const auto how = code < 0 ? JobEnd::How::kKilled : JobEnd::How::kExited;
      ends.push_back({.directory = directory, .how = how, .code = std::abs(code), .reason = {}});
    }
    return ends;
  }
  std::size_t starts() const { return starts_; }

 private:
  std::vector<int> script_;
  std::vector<fs::path> running_;
  std::size_t starts_ = 0;
};

CATCH_TEST_CASE("a start that another sweep overtook is no attempt at the run") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 1);
  ScriptedLauncher launcher({kRunOvertaken, -SIGSEGV, -SIGSEGV});
  const auto outcome = execute(runs, launcher, bench.notes, {.retries = 2});
  CATCH_INFO(join(bench.notes.lines, "\n"));
  CATCH_CHECK(outcome.failures.empty());
  CATCH_CHECK(outcome.completed == 1);
  CATCH_CHECK(launcher.starts() == 4);
  CATCH_CHECK(bench.notes.count("retry 1 of 2") == 1);
  CATCH_CHECK(bench.notes.count("retry 2 of 2") == 1);
}

CATCH_TEST_CASE("points of the same configuration are one run") {
  auto points = make_runs("/nowhere", 2);
  points.push_back(points[0]);
  points.back().axes = {{"seed", "zero"}};
  const auto runs = distinct(points);
  CATCH_REQUIRE(runs.size() == 2);
  CATCH_CHECK(runs[0].label() == "seed=0");
}

CATCH_TEST_CASE("damaged results are refused by name, all at once, and not run over") {
  SweepBench bench;
  const auto runs = make_runs(bench.results, 3);
  for (const int damaged : {0, 2}) {
    fs::create_directories(runs[damaged].directory.path);
    write_file_atomically(runs[damaged].directory.result(), "{\"schema\":");
  }
  CATCH_CHECK_THROWS_WITH(bench.sweep(runs), Contains(runs[0].id + "/result.json: is damaged") &&
                                                 Contains(runs[2].id + "/result.json: is damaged"));
  CATCH_CHECK(bench.workers.starts().empty());
  CATCH_CHECK(read_file(runs[0].directory.result()) == "{\"schema\":");
}

}  // namespace
}  // namespace difflab::sweep
