#include "sweep/progress.h"

#include <regex>
#include <sstream>
#include <thread>

#include "record/status.h"
#include "support/catch.h"
#include "sweep/estimate.h"

namespace difflab::sweep {
namespace {

CATCH_TEST_CASE("an estimate has a rate once it has seen two seconds of work") {
  Estimate estimate(100);
  estimate.update(0, 0);
  CATCH_CHECK_FALSE(estimate.rate());
  estimate.update(10, 1);
  CATCH_CHECK_FALSE(estimate.seconds_left());
  estimate.update(20, 2.5);
  CATCH_CHECK(*estimate.rate() == Approx(8).epsilon(0.01));           // 20 / 2.5
  CATCH_CHECK(*estimate.seconds_left() == Approx(10).epsilon(0.01));  // 80 / 8
}

CATCH_TEST_CASE("work of earlier calls counts as done, not as speed") {
  Estimate estimate(100);
  estimate.update(60, 0);
  estimate.update(70, 10);
  CATCH_CHECK(*estimate.rate() == Approx(1).epsilon(0.01));
  CATCH_CHECK(*estimate.seconds_left() == Approx(30).epsilon(0.01));
}

CATCH_TEST_CASE("work that is taken back makes no negative speed") {
  Estimate estimate(100);
  estimate.update(0, 0);
  estimate.update(50, 5);
  estimate.update(20, 10);
  // 50 in the first five seconds, whose weight has faded a little, and nothing in the next five.
  const double faded = std::exp(-5 / 180.);
  CATCH_CHECK(*estimate.rate() == Approx(50 * faded / (5 * faded + 5)));
}

CATCH_TEST_CASE("a failed run takes its work out of the estimate") {
  Estimate estimate(100);
  estimate.update(0, 0);
  estimate.update(20, 10);
  CATCH_CHECK(*estimate.seconds_left() == Approx(40).epsilon(0.01));
  estimate.give_up(30);
  CATCH_CHECK(*estimate.rate() == Approx(2).epsilon(0.01));
  CATCH_CHECK(*estimate.seconds_left() == Approx(25).epsilon(0.01));  // 50 / 2
}

CATCH_TEST_CASE("an estimate follows a sweep that becomes slower") {
  Estimate estimate(1e6);
  for (int second = 0; second <= 600; ++second) estimate.update(10.0 * second, second);
  CATCH_CHECK(*estimate.rate() == Approx(10).epsilon(0.01));
  for (int second = 601; second <= 1500; ++second) estimate.update(6000 + (second - 600), second);
  // Five memories later: 1 + 9·e⁻⁵ = 1.06.
  CATCH_CHECK(*estimate.rate() == Approx(1.06).epsilon(0.02));
}

struct ProgressBench {
  testing::TemporaryFolder folder;
  std::vector<Run> runs;
  ProgressBench() {
    for (const std::string seed : {"0", "1", "2"}) {
      runs.push_back({.id = seed,
                      .axes = {{"model", "diff"}, {"seed", seed}},
                      .config = {},
                      .config_text = "",
                      .directory = {folder.path() / seed},
                      .work = 200});
      make_directories(runs.back().directory.path);
    }
    write_file_atomically(runs[0].directory.result(), R"({"schema": 1, "status": "finished"})");
  }
};

// How long something took is the machine's affair.
std::string without_seconds(const std::string& text) {
  return std::regex_replace(text, std::regex(" after [0-9]+s"), " after");
}

CATCH_TEST_CASE("a log gets plain lines, rate limited, but every failure with its message") {
  ProgressBench bench;
  std::ostringstream out;
  Progress progress(out, bench.runs, {.live = false});
  progress.started(bench.runs[1]);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1'000; ++i) progress.started(bench.runs[2]);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // One in a second, however long these thousand took.
  std::string told = out.str();
  const auto again = std::count(told.begin(), told.end(), '\n') - 1;
  CATCH_CHECK(static_cast<double>(again) <= 1 + took.count());
  out.str("[1/3] model=diff seed=1: started\n");
  out.seekp(0, std::ios::end);
  progress.failed(bench.runs[1], "out of luck\nand more");
  progress.retried(bench.runs[2], "killed by signal 9 (Killed)", 1, 2);
  progress.completed(bench.runs[2], RunState::kFinished);
  CATCH_CHECK(without_seconds(out.str()) ==
              "[1/3] model=diff seed=1: started\n"
              "[1/3] model=diff seed=1: failed after\n"
              "    out of luck\n"
              "[1/3] model=diff seed=2: killed by signal 9 (Killed); trying again (1 of 2)\n"
              "[2/3] model=diff seed=2: finished after\n");
}

CATCH_TEST_CASE("a log in which nothing happens gets a sign of life now and then") {
  for (const auto hours : {std::chrono::hours(0), std::chrono::hours(300)}) {
    ProgressBench bench;
    std::ostringstream out;
    Progress progress(out, bench.runs, {.live = false, .between_signs = hours});
    progress.tick({&bench.runs[1]});
    CATCH_CHECK(out.str().empty() == (hours.count() > 0));
  }
}

CATCH_TEST_CASE("small runs are not expected to take as long as a large one") {
  ProgressBench bench;
  bench.runs[1].operations = 900;
  bench.runs[0].operations = bench.runs[2].operations = 50;
  std::ostringstream out;
  Progress progress(out, bench.runs, {.live = true, .width = 200});
  progress.tick({&bench.runs[1]});
  std::this_thread::sleep_for(std::chrono::milliseconds(2'100));
  write_status(bench.runs[1].directory, RunState::kRunning, {.step = 100, .steps = 200});
  progress.tick({&bench.runs[1]});
  // Half of the large run took two seconds and what the machine added: the rest, of which the small
  // one is a tenth, takes a little longer. By steps it would be three times as long.
  static const std::regex kLeft("(?:([0-9]+)m )?([0-9]+)s left");
  std::smatch left;
  const std::string told = out.str();
  CATCH_REQUIRE(std::regex_search(told, left, kLeft));
  std::smatch rate;
  CATCH_REQUIRE(std::regex_search(told, rate, std::regex("· ([0-9.]+) steps/s")));
  const double minutes = left[1].matched ? std::stod(left[1]) : 0;
  const double expected = 100 / std::stod(rate[1]) * 500 / 450;
  CATCH_CHECK(60 * minutes + std::stod(left[2]) == Approx(expected).epsilon(0.1).margin(1));
}

CATCH_TEST_CASE("a terminal gets one line with how far the running runs are") {
  ProgressBench bench;
  std::ostringstream out;
  write_status(bench.runs[1].directory, RunState::kRunning, {.step = 50, .steps = 200});
  {
    Progress progress(out, bench.runs, {.live = true, .width = 100});
    progress.started(bench.runs[1]);
    progress.tick({&bench.runs[1]});
    progress.failed(bench.runs[1], "out of luck");
  }
  CATCH_CHECK(without_seconds(out.str()) ==
              "\r\x1b[K1/3 done · 1 running · model=diff seed=1 25 %"
              "\r\x1b[K[1/3] model=diff seed=1: failed after\n"
              "1/3 done · 1 running · model=diff seed=1 25 %"
              "\r\x1b[K    out of luck\n"
              "1/3 done · 1 running · model=diff seed=1 25 %"
              "\r\x1b[K");
}

}  // namespace
}  // namespace difflab::sweep
