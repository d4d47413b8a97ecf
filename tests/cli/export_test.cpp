// `difflab export csv` and `export tensorboard`. The bytes: tests/report/export_test.cpp.
#include "cli/driver.h"
#include "record/run_directory.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

CATCH_TEST_CASE("export csv writes every number of every run, with the axes of the sweep") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  std::multiset<std::string> expected;
  const auto study = Json::parse(read_file(driver.output() / "runs.json"));
  for (const auto& planned : study.at("runs")) {
    const std::string id = planned.at("id");
    const auto axes = planned.at("axes");
    for (const auto& line : read_metrics({driver.results() / "runs" / id})) {
      for (const auto& [metric, value] : line.items()) {
        if (metric == "step") continue;
        expected.insert(concat(id, ',', axes.at("model").get<std::string>(), ',',
                               axes.at("seed").get<std::string>(), ',', line.at("step").dump(), ',',
                               metric, ',', value.dump()));
      }
    }
  }
  const Answer answer = driver.call({"export", "csv", "tiny"}, 0);
  auto lines = split(answer.out, '\n');
  CATCH_CHECK(lines.front() == "run,model,seed,step,metric,value");
  CATCH_CHECK(lines.back().empty());
  const std::multiset<std::string> found(lines.begin() + 1, lines.end() - 1);
  CATCH_CHECK(expected.size() == 6 * 5 * 6);  // runs, steps, metrics
  CATCH_CHECK(found == expected);

  const auto file = driver.project() / "curves.csv";
  CATCH_CHECK(driver.call({"export", "csv", "tiny", "--to", file}).code == 0);
  CATCH_CHECK(read_file(file) == answer.out);
}

CATCH_TEST_CASE("runs without a sweep are told apart by the keys in which they differ") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  std::vector<std::string> words{"export", "csv"};
  const auto study = Json::parse(read_file(driver.output() / "runs.json"));
  for (const auto& planned : study.at("runs")) {
    if (planned.at("axes").at("model") == "diff") words.push_back(planned.at("id"));
  }
  CATCH_CHECK_THAT(driver.call(words).out, Catch::StartsWith("run,seed,step,metric,value\n"));
}

CATCH_TEST_CASE("export tensorboard makes a folder for each run that has metrics") {
  Driver driver(R"({"exit": {"seed: 2": 2}})");
  CATCH_REQUIRE(driver.sweep().code == 1);
  const Answer answer = driver.call({"export", "tensorboard", "tiny"}, 0);
  CATCH_CHECK_THAT(answer.out, Contains("the curves of 4 runs"));
  CATCH_CHECK_THAT(answer.err, Contains("2 runs have no metrics yet"));
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(driver.output() / "tensorboard")) {
    names.insert(entry.path().filename());
  }
  CATCH_CHECK(names == std::set<std::string>{"model=diff,seed=0", "model=diff,seed=1",
                                             "model=transformer,seed=0",
                                             "model=transformer,seed=1"});
}

CATCH_TEST_CASE("runs of two results folders are two, also when they are the same run") {
  const Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto other = driver.project() / "other";
  fs::copy(driver.results(), other, fs::copy_options::recursive);
  const auto lines = [&](const std::vector<std::string>& folders) {
    std::vector<std::string> words{"export", "csv"};
    words.insert(words.end(), folders.begin(), folders.end());
    const Answer answer = driver.call(words, 0);
    return split(answer.out, '\n').size() - 2;  // without the heading and the end
  };
  const auto once = lines({driver.results()});
  CATCH_CHECK(lines({driver.results(), other}) == 2 * once);
  CATCH_CHECK(lines({driver.results(), driver.results()}) == once);
}

CATCH_TEST_CASE("an override may be longer than the name of a file") {
  const Driver driver;
  std::string seeds = "seed=100";
  for (int seed = 101; seed < 200; ++seed) seeds += concat(',', seed);
  CATCH_CHECK_THAT(driver.call({"export", "csv", "tiny", seeds}, 2).err,
                   Contains("none of the runs of tiny/default has metrics yet"));
}

CATCH_TEST_CASE("an option without its value does not take the next word") {
  const Driver driver;
  for (const char* option : {"--to=", "--prompt="}) {
    CATCH_CHECK_THAT(driver.call({"export", option, "--", "run"}, 2).err,
                     Contains(concat(option, ", has no value")));
  }
}

CATCH_TEST_CASE("an export that cannot be made says why and leaves nothing") {
  const Driver driver;
  CATCH_CHECK_THAT(
      driver.call({"export", "csv", "tiny", "--to", driver.project() / "x.csv"}, 2).err,
      Contains("none of the runs of tiny/default has metrics yet"));
  CATCH_CHECK_FALSE(fs::exists(driver.project() / "x.csv"));
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto id = driver.workers.starts().front().id;
  CATCH_CHECK_THAT(driver.call({"export", "tensorboard", id}).err,
                   Contains("name one with --to FOLDER"));
  CATCH_CHECK_THAT(driver.call({"export", id}).err, Contains("expected export RUN --to FILE"));
  CATCH_CHECK_THAT(driver.call({"export", "parquet", "tiny"}, 2).err,
                   Contains("The following argument was not expected: tiny"));
}

}  // namespace
}  // namespace difflab
