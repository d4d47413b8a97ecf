#include "sweep/watch.h"

#include "record/lease.h"
#include "record/status.h"
#include "support/catch.h"
#include "sweep/watch_text.h"

namespace difflab::sweep {
namespace {

// Four runs of 100 steps; a lease that this process holds makes one of them running.
struct WatchBench {
  testing::TemporaryFolder folder;
  std::vector<Run> runs;
  std::vector<std::unique_ptr<Lease>> leases;
  Watch watch{"valid_loss"};

  WatchBench() {
    for (int i = 0; i < 4; ++i) {
      Run run{.id = std::to_string(i),
              .axes = {{"seed", std::to_string(i)}},
              .config = {},
              .config_text = "",
              .directory = {folder.path() / std::to_string(i)},
              .work = 100};
      runs.push_back(run);
    }
  }
  const RunDirectory& at(std::size_t i) const { return runs[i].directory; }
  void start(std::size_t i) {
    make_directories(at(i).path);
    leases.push_back(Lease::acquire(at(i), [] { return false; }));
  }
  void finish(std::size_t i, const std::string& how) const {
    make_directories(at(i).path);
    write_file_atomically(at(i).result(), R"({"schema": 1, "status": ")" + how + "\"}");
  }
  // A line every 10 steps, `seconds` of training after the one before.
  void train(std::size_t i, int to, double seconds) const {
    std::ofstream file(at(i).metrics());
    for (int step = 0; step <= to; step += 10) {
      const Json line = {{"step", step},
                         {"valid_loss", 4.0 - step / 50.0},
                         {"train_seconds", seconds * step / 10}};
      file << line.dump() << '\n';
    }
    write_status(at(i), RunState::kRunning, {.step = to, .steps = 100});
  }
  WatchView look(double now) { return watch.look(runs, {folder.path()}, now); }
};

CATCH_TEST_CASE("a watch shows state, step, curve and rate of runs that others execute") {
  WatchBench bench;
  bench.start(0);
  bench.train(0, 30, 5);
  bench.finish(1, "diverged");
  make_directories(bench.at(2).path);
  write_status(bench.at(2), RunState::kFailed, {}, "out of luck\nand more");
  const auto view = bench.look(0);
  CATCH_REQUIRE(view.runs.size() == 4);
  CATCH_CHECK(view.runs[0].state == RunState::kRunning);
  CATCH_CHECK(view.runs[0].step == 30);
  CATCH_CHECK(view.runs[0].steps == 100);
  CATCH_CHECK(view.runs[0].curve == std::vector<double>{4.0, 3.8, 3.6, 3.4});
  CATCH_CHECK(*view.runs[0].rate == Approx(2));  // 10 steps in 5 s
  CATCH_CHECK(view.runs[1].state == RunState::kDiverged);
  CATCH_CHECK(view.runs[2].problem == "out of luck\nand more");
  CATCH_CHECK(view.runs[3].state == RunState::kNew);
  CATCH_CHECK(view.complete() == 1);
  CATCH_CHECK_FALSE(view.ended());
}

CATCH_TEST_CASE("what is left is the work that somebody will do, by the clocks of the runs") {
  WatchBench bench;
  bench.start(0);
  bench.train(0, 30, 5);
  bench.start(1);  // too young to have a rate: counts as the other
  bench.finish(2, "finished");
  make_directories(bench.at(3).path);
  write_status(bench.at(3), RunState::kFailed, {}, "x");
  const auto view = bench.look(0);
  CATCH_CHECK(*view.rate == Approx(4));                  // 2 runs at 2 steps/s
  CATCH_CHECK(view.done == Approx(130.0 / 400));         // what failed is not done
  CATCH_CHECK(*view.seconds_left == Approx(170.0 / 4));  // and not waited for
}

CATCH_TEST_CASE("a large run is expected to take longer than small ones of as many steps") {
  WatchBench bench;
  for (std::size_t i = 0; i < 4; ++i) bench.runs[i].operations = i == 0 ? 700 : 100;
  bench.start(0);
  bench.train(0, 50, 5);  // half of it, 2 steps or 14 operations a second
  const auto view = bench.look(0);
  CATCH_CHECK(*view.rate == Approx(2));
  CATCH_CHECK(*view.seconds_left == Approx((350 + 300) / 14.0));  // and not 350 steps / 2
}

CATCH_TEST_CASE(
    "without clocks of the runs the watch measures itself, and nobody working ends it") {
  WatchBench bench;
  bench.start(0);
  write_status(bench.at(0), RunState::kRunning, {.step = 10, .steps = 100});
  CATCH_CHECK_FALSE(bench.look(0).rate);
  write_status(bench.at(0), RunState::kRunning, {.step = 50, .steps = 100});
  const auto view = bench.look(10);
  CATCH_CHECK(*view.rate == Approx(4));
  CATCH_CHECK(*view.seconds_left == Approx(350.0 / 4));
  bench.leases.clear();
  CATCH_CHECK_FALSE(bench.look(11).seconds_left);
}

CATCH_TEST_CASE("files may grow, be cut, be damaged and vanish while the watch looks") {
  WatchBench bench;
  CATCH_CHECK(bench.look(0).runs[0].state == RunState::kNew);
  bench.start(0);
  bench.train(0, 20, 5);
  CATCH_CHECK(bench.look(1).runs[0].curve.size() == 3);
  std::ofstream(bench.at(0).metrics(), std::ios::app) << "{\"step\":30,\"valid_lo";
  CATCH_CHECK(bench.look(2).runs[0].curve.size() == 3);
  bench.train(0, 10, 6);  // resumed from step 10
  CATCH_CHECK(bench.look(3).runs[0].curve == std::vector<double>{4.0, 3.8});
  bench.leases.clear();
  write_file_atomically(bench.at(0).result(), "{\"sche");
  const auto damaged = bench.look(4);
  CATCH_CHECK_THAT(damaged.runs[0].problem, Contains("result.json: is damaged"));
  bench.finish(0, "finished");
  CATCH_CHECK(bench.look(5).complete() == 1);
  write_file_atomically(bench.at(0).result(), "never read again while it is there");
  CATCH_CHECK(bench.look(6).complete() == 1);
  fs::remove_all(bench.at(0).path);
  CATCH_CHECK(bench.look(7).runs[0].state == RunState::kNew);
  CATCH_CHECK(bench.look(8).runs[0].curve.empty());
}

CATCH_TEST_CASE("a watch has ended when every run has its result or has failed") {
  WatchBench bench;
  for (const std::size_t i : {0, 1, 2}) bench.finish(i, "finished");
  CATCH_CHECK_FALSE(bench.look(0).ended());
  make_directories(bench.at(3).path);
  write_status(bench.at(3), RunState::kFailed, {}, "x");
  CATCH_CHECK(bench.look(1).ended());
  bench.start(3);  // somebody tries again
  CATCH_CHECK_FALSE(bench.look(2).ended());
}

WatchView example() {
  WatchView view;
  view.metric = "valid_loss";
  const auto add = [&](const std::string& label, RunState state, int step) {
    view.runs.push_back({.label = label,
                         .state = state,
                         .step = step,
                         .steps = step > 0 ? 2000 : 0,
                         .curve = {},
                         .rate = {},
                         .problem = {}});
    for (int i = 0; i <= step; i += 250) view.runs.back().curve.push_back(4 - i / 1000.0);
  };
  add("model=transformer seed=0", RunState::kFinished, 2000);
  add("model=transformer seed=1", RunState::kRunning, 1000);
  add("model=diff seed=0", RunState::kFailed, 0);
  add("model=diff seed=1", RunState::kNew, 0);
  view.runs[1].rate = 41.3;
  view.runs[2].curve.clear();
  view.runs[3].curve.clear();
  view.runs[2].problem = "out of\x1b[2J luck\nand more";
  view.done = 0.5;
  view.rate = 41.3;
  view.seconds_left = 845;
  return view;
}

CATCH_TEST_CASE("the whole view in lines") {
  std::string text;
  for (const auto& line : watch_lines(example(), "headline/default", 100)) text += line + "\n";
  const std::string bar = "████████████████████░░░░░░░░░░░░░░░░░░░░";
  CATCH_CHECK(text ==
              "headline/default: 1/4 done · 1 running · 1 failed\n" + bar +
                  "  50 % · 41 steps/s · 14m 05s left\n"
                  "\n"
                  "run                       state          step             valid_loss  steps/s\n"
                  "model=transformer seed=0  finished  2000/2000  █▇▆▅▅▄▃▂▁           2\n"
                  "model=transformer seed=1  running   1000/2000  █▆▅▃▁               3     41/s\n"
                  "model=diff seed=0         failed\n"
                  "model=diff seed=1         new\n"
                  "\n"
                  "failed: model=diff seed=0\n"
                  "    out of [2J luck\n");
}

CATCH_TEST_CASE("a frame fits every screen, and the run that runs is in it") {
  auto view = example();
  for (int i = 0; i < 60; ++i) {
    auto run = view.runs[i % 2 == 0 ? 0 : 3];
    run.label += " train.lr=0.00" + std::to_string(i);
    view.runs.insert(view.runs.begin(), run);
  }
  for (int i = 0; i < 20; ++i) view.runs.push_back(view.runs[62]);
  for (int width = 12; width <= 160; width += 7) {
    for (int height = 8; height <= 100; height += 9) {
      const auto lines = watch_frame(view, "headline/default", {width, height});
      CATCH_INFO(width << " x " << height);
      CATCH_CHECK(static_cast<int>(lines.size()) <= height);
      int running = 0;
      for (std::size_t i = 2; i < lines.size(); ++i) {
        const bool cut = lines[i].starts_with("    ") || lines[i].find(": ") != std::string::npos ||
                         lines[i].starts_with("…") || lines[i].starts_with("Ctrl-C");
        if (width >= 30 && !cut) CATCH_CHECK(columns_of(lines[i]) < width);
        running += lines[i].find("  running") != std::string::npos ? 1 : 0;
      }
      if (width >= 30) CATCH_CHECK(running == 1);
    }
  }
}

CATCH_TEST_CASE("a small screen counts the runs that it leaves out") {
  const auto lines = watch_frame(example(), "x", {100, 8});
  CATCH_REQUIRE(lines.size() == 8);
  CATCH_CHECK_THAT(lines[3], Contains("model=transformer seed=1  running"));
  CATCH_CHECK(lines[4] == "… and 3 more: 1 failed, 1 finished, 1 new");
  CATCH_CHECK(lines[5] == "failed: model=diff seed=0");
}

CATCH_TEST_CASE("a log gets the view once, then what changes, and a sign of life every minute") {
  std::ostringstream out;
  WatchLog log(out);
  auto view = example();
  log.show(view, "x", 0);
  CATCH_CHECK_THAT(out.str(), Contains("model=diff seed=1         new\n"));
  out.str("");
  log.show(view, "x", 59);
  CATCH_CHECK(out.str().empty());
  view.runs[1].state = RunState::kFinished;
  log.show(view, "x", 60);
  CATCH_CHECK(out.str() == "[2/4] model=transformer seed=1: finished\n");
  out.str("");
  log.show(view, "x", 119);
  CATCH_CHECK(out.str().empty());
  log.show(view, "x", 120);
  CATCH_CHECK(out.str() == "x: 2/4 done · 1 failed · 41 steps/s · 14m 05s left\n");
}

}  // namespace
}  // namespace difflab::sweep
