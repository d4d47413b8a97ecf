// `difflab sweep` as a user has it: the real driver, its files, its exit codes.

#include "cli/driver.h"
#include "record/provenance.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

CATCH_TEST_CASE("a sweep ends with a table and the paths, and a second call only reports") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "--dry-run"}).out,
                   Contains("core-hours at 50 GFLOP/s; when done: not known: no run like these"));
  const Answer first = driver.sweep(0);
  CATCH_CHECK_THAT(first.out, Contains("experiment tiny (preset default)"));
  CATCH_CHECK_THAT(first.out, Contains("Do six runs end with the same table"));
  CATCH_CHECK_THAT(first.out, Contains("transformer") && Contains("diff"));
  CATCH_CHECK_THAT(first.out, Contains("table.{md") && Contains("report.html"));
  CATCH_CHECK_THAT(first.out, Contains("\n  time    ") && Contains(" (2 at once: other 100 %)"));
  CATCH_CHECK(driver.workers.ends().size() == 6);
  const auto tables = driver.tables();

  driver.workers.forget();
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "--dry-run"}).out, !Contains("core-hours"));
  const Answer second = driver.sweep(0);
  CATCH_CHECK_THAT(second.out, Contains("nothing to run: all 6 runs are finished"));
  CATCH_CHECK_THAT(second.out, Contains("table.{md") && !Contains("  time    "));
  CATCH_CHECK(driver.workers.starts().empty());
  CATCH_CHECK(driver.tables() == tables);
}

CATCH_TEST_CASE("several experiments are checked together and share the runs they have in common") {
  const Driver driver;
  driver.write("experiments/small.yaml",
               "# @package _global_\ndefaults:\n  - tiny\nsweep: {seed: [0]}\n");
  for (const std::string names : {"small,tiny", "all"}) {
    CATCH_INFO(names);
    fs::remove_all(driver.results());
    driver.workers.forget();
    driver.call({"sweep", names}, 0);
    CATCH_CHECK(driver.workers.starts().size() == 6);
    CATCH_CHECK(fs::exists(driver.results() / "small" / "default" / "table.md"));
    CATCH_CHECK(fs::exists(driver.output() / "table.md"));
  }
  fs::remove_all(driver.results());
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny,tinny,smal"}, 2).err,
                   Contains("tinny") && Contains("smal"));
  CATCH_CHECK_FALSE(fs::exists(driver.results()));
}

CATCH_TEST_CASE("a report names the project's files from its root") {
  const Driver driver;
  std::string text;
  for (int i = 0; i < 500; ++i) text += "a line of text " + std::to_string(i) + "\n";
  driver.write("data/own.txt", text);
  driver.write("experiments/own.yaml", R"(# @package _global_
defaults:
  - override /task: text
task: {file: {path: data/own.txt}, length: 16}
sweep: {seed: [0, 1]}
tables:
  - {name: table, columns: [valid_loss]}
)");
  driver.call({"sweep", "own"}, 0);
  const auto folder = driver.results() / "own" / "default";
  CATCH_CHECK_THAT(read_file(folder / "table.md"), Contains("task.file.path=data/own.txt"));
  for (const char* file : {"table.md", "table.tex", "report.html", "runs.json"}) {
    CATCH_INFO(file);
    CATCH_CHECK(read_file(folder / file).find(driver.project().string()) == std::string::npos);
  }
}

CATCH_TEST_CASE("presets share the runs that they have in common") {
  const Driver driver;
  CATCH_CHECK(driver.sweep().code == 0);
  driver.workers.forget();
  CATCH_CHECK(driver.call({"sweep", "tiny", "preset=more"}).code == 0);
  CATCH_CHECK(driver.workers.starts().size() == 2);
  CATCH_CHECK(fs::exists(driver.results() / "tiny" / "more" / "table.md"));
}

CATCH_TEST_CASE("overrides report beside the presets, where runs execute does not matter") {
  const Driver driver;
  const auto reports = [&] {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(driver.results() / "tiny")) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  };
  CATCH_CHECK(driver.call({"sweep", "tiny", "launcher.workers=1"}).code == 0);
  CATCH_CHECK(reports() == std::vector<std::string>{"default"});
  fs::remove_all(driver.output());
  driver.workers.forget();
  CATCH_CHECK(driver.call({"sweep", "tiny", "seed=0"}).code == 0);
  CATCH_CHECK(driver.workers.starts().empty());
  CATCH_REQUIRE(reports().size() == 1);
  CATCH_CHECK_THAT(reports()[0], Catch::Matches("default-[0-9a-f]{6}"));
}

CATCH_TEST_CASE("--dry-run lists every run with its state and writes nothing") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "--dry-run"}, 0).out, Contains("6 runs: 6 new"));
  CATCH_CHECK_FALSE(fs::exists(driver.results()));

  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto runs = Json::parse(driver.call({"sweep", "tiny", "--dry-run", "--json"}).out);
  CATCH_REQUIRE(runs.size() == 6);
  fs::remove_all(runs[4]["directory"].get<std::string>());
  fs::remove_all(driver.results() / "trainings");
  CATCH_CHECK(runs[4]["axes"] == Json({{"model", "diff"}, {"seed", "1"}}));
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "--dry-run"}).out,
                   Contains("6 runs: 5 finished, 1 new"));
  CATCH_CHECK_FALSE(fs::exists(driver.results() / "trainings"));
}

CATCH_TEST_CASE("a sweep says when it will be done if runs like its own have been finished here") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.sweep().out, Contains("expected   not known"));
  // Twelve minutes a run, on another machine and on this one.
  const auto remember = [&](const std::string& cpu, const char* more = "") {
    for (const auto& run : fs::directory_iterator(driver.results() / "runs")) {
      write_file_atomically(run.path() / "provenance.json",
                            R"({"cpu": ")" + cpu + R"(", "started": "2026-01-01T00:00:00Z",
                               "finished": "2026-01-01T00:12:00Z")" +
                                more + "}");
    }
  };
  const std::vector<std::string> two_more = {"sweep", "tiny", "seed=range(4)",
                                             "launcher.workers=1"};
  const auto expected_with = [&](const std::string& cpu, const char* more = "") {
    remember(cpu, more);
    const auto out = driver.call(two_more).out;
    for (const auto& run : fs::directory_iterator(driver.results() / "runs")) {
      if (!fs::exists(run.path() / "provenance.json")) fs::remove_all(run.path());
    }
    return out;
  };
  const auto here = processor();
  CATCH_CHECK_THAT(expected_with("another"), Contains("expected   not known"));
  CATCH_CHECK_THAT(expected_with(here, R"(, "earlier_sessions": [{}])"),
                   Contains("expected   not known"));
  CATCH_CHECK_THAT(expected_with(here), Contains("expected   in about 24m ") &&
                                            Contains("as 6 runs like these took here"));
  // Two runs on two workers: half of the work each, and on average half a run more.
  remember(here);
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "seed=range(4)", "launcher.workers=2"}).out,
                   Contains("expected   in about 18m "));
}

CATCH_TEST_CASE("points that differ in a label alone are one run, and counted as one") {
  const Driver driver;
  driver.write("experiments/labels.yaml", R"(# @package _global_
title: Is a label an effect?
sweep: {model.name: [one, two], seed: [0, 1]}
)");
  const auto plan = driver.call({"sweep", "labels", "--dry-run"}).out;
  CATCH_CHECK_THAT(plan, Contains("\n2 runs: 2 new\n") &&
                             Contains("2 points share a run with another of the same"));
}

CATCH_TEST_CASE("a deleted run directory is run again, alone, and the tables are the same bytes") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto tables = driver.tables();
  const std::string victim = driver.workers.starts()[3].id;
  fs::remove_all(driver.results() / "runs" / victim);
  driver.workers.forget();
  CATCH_CHECK_THAT(driver.sweep().out, Contains("5 finished, 1 to run"));
  CATCH_REQUIRE(driver.workers.starts().size() == 1);
  CATCH_CHECK(driver.workers.starts()[0].id == victim);
  CATCH_CHECK(driver.tables() == tables);
}

CATCH_TEST_CASE("failed runs are told together with message and log, and the rest is reported") {
  Driver driver(R"({"exit": {"seed: 1": 2}})");
  const Answer answer = driver.sweep(1);
  CATCH_CHECK_THAT(answer.err, Contains("2 of the runs failed"));
  CATCH_CHECK_THAT(answer.err, Contains("model=transformer seed=1") &&
                                   Contains("model=diff seed=1") &&
                                   Contains("the fake task is impossible") && Contains("log.txt"));
  CATCH_CHECK_THAT(answer.out, Contains("table.{md"));
  driver.workers.set("{}");
  driver.workers.forget();
  CATCH_CHECK(driver.sweep().code == 0);
  CATCH_CHECK(driver.workers.starts().size() == 2);
}

CATCH_TEST_CASE("sweep --json ends with what has become of the experiment") {
  Driver driver;
  driver.workers.set(R"({"exit": {"seed: 2": 2}})");
  const auto last_line_of = [&](const Answer& answer, int code) {
    CATCH_INFO(answer.err);
    CATCH_REQUIRE(answer.code == code);
    return Json::parse(last_line(answer.out));
  };
  const Json first = last_line_of(driver.call({"sweep", "tiny", "--json"}), 1);
  CATCH_CHECK(first == Json({{"experiment", "tiny"},
                             {"preset", "default"},
                             {"output", driver.output().string()},
                             {"exit_code", 1},
                             {"planned", 6},
                             {"finished", 4},
                             {"diverged", 0},
                             {"failed", 2}}));
  driver.workers.set(R"({"exit": {"seed: ": 2}})");
  const Json none = last_line_of(driver.call({"sweep", "tiny", "train.steps=160", "--json"}), 1);
  CATCH_CHECK((none["finished"] == 0 && none["failed"] == 6));
  driver.workers.set("{}");
  CATCH_CHECK(last_line_of(driver.call({"sweep", "tiny", "--json"}), 0)["finished"] == 6);
  CATCH_CHECK(driver.call({"sweep", "tiny", "--json", "--freeze"}).code == 2);
  const auto page = read_file(DIFFLAB_ROOT "/docs/programs.md");
  for (const auto& [key, value] : first.items()) CATCH_CHECK_THAT(page, Contains("`" + key + "`"));
  const Json planned = Json::parse(driver.call({"sweep", "tiny", "--dry-run", "--json"}).out);
  for (const auto& [key, value] : planned[0].items()) {
    CATCH_CHECK_THAT(page, Contains("`" + key + "`"));
  }
}

}  // namespace
}  // namespace difflab
