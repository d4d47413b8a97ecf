// `difflab logs`: what runs printed, and what happened to them.
#include "cli/driver.h"
#include "record/log/event_log.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver, testing::eventually;

// The events of every line "RUN | TIME  HOST/PROCESS  EVENT DETAILS" of one run, in order.
std::string events_of(const std::string& text, const std::string& run) {
  std::string events;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(run + " | ")) continue;
    events += line.substr(line.rfind("  ") + 2) + "\n";
  }
  return events;
}

CATCH_TEST_CASE("logs --events tells the story of a run that was killed once") {
  Driver driver(R"({"steps": 2, "signal": {"seed: 1": 9}, "signal_times": 1})");
  CATCH_REQUIRE(driver.sweep().code == 0);
  const Answer answer = driver.call({"logs", "tiny", "--events"}, 0);
  CATCH_CHECK(events_of(answer.out, "model=diff seed=0") ==
              "start epoch=1\ncheckpoint step=1\ncheckpoint step=2\n"
              "finish state=finished step=2\n");
  CATCH_CHECK(events_of(answer.out, "model=diff seed=1") ==
              "start epoch=1\n"
              "retry message=killed by signal 9 (Killed) attempt=1 most=2\n"
              "start epoch=2\ncheckpoint step=1\ncheckpoint step=2\n"
              "finish state=finished step=2\n");
}

CATCH_TEST_CASE("a failure is told once, by the run or by who saw it end") {
  Driver driver(R"({"exit": {"seed: 0": 2, "seed: 2": 70}, "signal": {"seed: 1": 9}})");
  CATCH_CHECK(driver.call({"sweep", "tiny", "launcher.retries=0"}).code == 1);
  const Answer answer = driver.call({"logs", "tiny", "--events"});
  CATCH_CHECK(events_of(answer.out, "model=diff seed=0") ==
              "start epoch=1\nfailure message=the fake task is impossible\n");
  CATCH_CHECK(events_of(answer.out, "model=diff seed=1") ==
              "start epoch=1\nfailure message=killed by signal 9 (Killed), 1 times\n");
  CATCH_CHECK(events_of(answer.out, "model=diff seed=2") ==
              "start epoch=1\nfailure message=exit code 70: the fake run gives up\n");
  const Answer watch = driver.call({"watch", "tiny", "--once"});
  CATCH_CHECK_THAT(watch.out, Contains("0/6 done · 6 failed") &&
                                  Contains("failed: model=diff seed=1\n"
                                           "    killed by signal 9 (Killed), 1 times\n"));
}

CATCH_TEST_CASE("a run that is stopped and continued says so, and a damaged record is named") {
  Driver driver(R"({"steps": 50, "step_ms": 10})");
  CATCH_REQUIRE(driver.call({"sweep", "tiny", "--freeze"}).code == 0);
  const auto work = driver.start({"work", driver.output(), "--workers=1"});
  const auto any_step = [&] {
    for (const auto& start : driver.workers.starts()) {
      if (fs::exists(driver.results() / "runs" / start.id / "checkpoint.safetensors")) return true;
    }
    return false;
  };
  CATCH_REQUIRE(eventually(any_step));
  work->kill(SIGTERM);
  CATCH_CHECK(Driver::finish(*work).code == 75);
  const auto id = driver.workers.starts().front().id;
  driver.workers.set("{}");
  const RunDirectory run{driver.results() / "runs" / id};
  {
    std::ofstream(run.events(), std::ios::app) << "\x1e"
                                                  "0000";
  }  // torn by a power cut
  CATCH_CHECK(driver.call({"work", driver.output()}).code == 0);
  const Answer answer = driver.call({"logs", driver.output(), id, "--events"});
  CATCH_CHECK_THAT(answer.out, Contains("  signal signal=15\n") && Contains("  resume step=") &&
                                   Contains("  start epoch=") && Contains("  finish state="));
  CATCH_CHECK_THAT(answer.out, Contains("(5 bytes at ") && Contains("events.log are damaged"));
}

CATCH_TEST_CASE("logs shows a single run and a results folder, too") {
  Driver driver(R"({"exit": {"seed: 1": 70}})");
  CATCH_CHECK(driver.sweep().code == 1);
  const Answer one = driver.call({"logs", driver.workers.starts().front().id, "--events"});
  CATCH_CHECK_THAT(one.out, Contains("start epoch=1") && !Contains(" | "));
  const Answer all = driver.call({"logs", driver.results()});
  CATCH_CHECK_THAT(all.out, Contains("seed=1 | the fake run gives up\n"));
}

}  // namespace
}  // namespace difflab
