// `difflab compare`: keys in which runs differ, and their metrics.

#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

Json compared(const Driver& driver, std::vector<std::string> words) {
  words.insert(words.begin(), {"compare", "--json"});
  const Answer answer = driver.call(words);
  CATCH_INFO(answer.err);
  CATCH_REQUIRE(answer.code == 0);
  return Json::parse(answer.out);
}

CATCH_TEST_CASE("compare shows the keys in which two runs differ, and both values") {
  const Driver driver;
  driver.write("results/runs/abc1/config.yaml",
               "model: {name: a}\nseed: 1\ntrain: {lr: 0.1, steps: 5}\n"
               "evaluate: [{kind: heldout, samples: 3}]\n");
  driver.write("results/runs/abd2/config.yaml",
               "model: {name: b}\nseed: 1\ntrain: {lr: 0.2}\n"
               "evaluate: [{kind: heldout, samples: 4}]\n");
  const Json keys = compared(driver, {"abc", "abd2"})["keys"];
  CATCH_CHECK(keys == Json::array({{{"key", "evaluate[0].samples"}, {"values", {"3", "4"}}},
                                   {{"key", "train.lr"}, {"values", {"0.1", "0.2"}}},
                                   {{"key", "train.steps"}, {"values", {"5", "(no key)"}}},
                                   {{"key", "model.name"}, {"values", {"a", "b"}}}}));
  const auto folder = (driver.results() / "runs" / "abd2").string();
  const auto shown = driver.call({"compare", "abc1", folder});
  CATCH_CHECK_THAT(shown.out, Contains("5  (no key)"));
  CATCH_CHECK_THAT(shown.err, Contains("no metric is in every finished run"));
  CATCH_CHECK_THAT(driver.call({"compare", "ab", "abd"}).err, Contains("2 runs begin with 'ab'"));
  CATCH_CHECK_THAT(driver.call({"compare", "abc"}).err, Contains("all runs are in one group, a"));
  CATCH_CHECK_THAT(driver.call({"compare", "abc", "abd", "--by", "model.nam"}).err,
                   Contains("run abc1 has no model.nam"));
}

CATCH_TEST_CASE("compare has the means, intervals and paired differences of the table") {
  Driver driver;
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto json = compared(driver, {"tiny", "--metrics", "valid_loss"});
  CATCH_REQUIRE(json["groups"].size() == 2);
  CATCH_CHECK(json["groups"][0]["runs"].size() == 3);
  std::istringstream table(read_file(driver.output() / "table.csv"));
  std::string heading, line;
  std::getline(table, heading);
  const auto names = split(heading, ',');
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  std::size_t row = 0;
  for (; std::getline(table, line); ++row) {
    const auto cells = split(line, ',');
    const auto& found = json["metrics"][row];
    CATCH_CHECK(found["group"] == cells[0]);
    CATCH_CHECK(found["n"] == 3);
    for (const auto& [key, name] : {std::pair{"mean", "mean_valid_loss"},
                                    {"low", "low_valid_loss"},
                                    {"high", "high_valid_loss"}}) {
      CATCH_CHECK(found[key].get<double>() == Approx(std::stod(cells[column(name)])));
    }
  }
  CATCH_CHECK(row == 2);
  const auto& difference = json["differences"][0];
  CATCH_CHECK(difference["pairs"] == 3);
  CATCH_CHECK(
      difference["difference"].get<double>() ==
      Approx(json["metrics"][1]["mean"].get<double>() - json["metrics"][0]["mean"].get<double>()));
  CATCH_CHECK(compared(driver, {"tiny", "--by", "seed"})["groups"].size() == 3);
  // A run counts once, however often it is named; without --metrics all that finished runs share.
  const auto twice = compared(driver, {"tiny", driver.results().string(), "--by", "model.name"});
  CATCH_CHECK(twice["groups"][0]["runs"].size() == 3);
  std::set<std::string> metrics;
  for (const auto& one : twice["metrics"]) metrics.insert(one["metric"].get<std::string>());
  CATCH_CHECK(metrics.count("valid_loss") == 1);
  CATCH_CHECK(metrics.count("parameters") == 0);  // neither more nor less is better
  // Groups with two runs of one seed have no pairs.
  const auto pooled = driver.call({"compare", "--json", "tiny", "--by", "train.lr"});
  CATCH_CHECK(pooled.code == 2);  // one rate, one group
}

CATCH_TEST_CASE("compare leaves out what has not begun, and metrics that a finished run lacks") {
  Driver driver;
  driver.workers.set(R"({"exit": {"seed: 2": 2}})");
  CATCH_REQUIRE(driver.sweep().code == 1);  // two of six failed
  const auto json = compared(driver, {"tiny"});
  CATCH_CHECK(json["metrics"].size() >= 4);
  for (const auto& one : json["metrics"]) CATCH_CHECK(one["n"] == 2);
  for (const auto& one : json["differences"]) CATCH_CHECK(one["pairs"] == 2);
  const auto folder = json["groups"][0]["runs"][0].get<std::string>();
  fs::remove_all(driver.results() / "runs" / folder);
  const auto fewer = driver.call({"compare", "--json", "tiny"});
  CATCH_CHECK_THAT(fewer.err, Contains("1 runs have not begun and are left out"));
  CATCH_CHECK(Json::parse(fewer.out)["groups"][0]["runs"].size() == 2);
}

CATCH_TEST_CASE("runs of a group with the same seed are not paired") {
  const Driver driver;
  int number = 0;
  for (const std::string lr : {"0.1", "0.1", "0.2", "0.2"}) {
    const auto run = "results/runs/a" + std::to_string(number++);
    driver.write(run + "/config.yaml", "model: {name: a}\nseed: 1\ntrain: {lr: " + lr + "}\n");
  }
  const auto answer = driver.call({"compare", driver.results().string(), "--by", "train.lr"});
  CATCH_CHECK_THAT(answer.err, Contains("have the same seed: their differences are not paired"));
}

CATCH_TEST_CASE("a model that was asked again is compared once") {
  const Driver driver;
  for (const std::string id : {"aa", "bb", "cc"}) {
    driver.write("results/runs/" + id + "/config.yaml",
                 "model: {name: " + std::string(id == "cc" ? "b" : "a") + "}\nseed: 1\n");
  }
  driver.write("results/runs/bb/provenance.json", R"({"trained_in": "aa"})");
  CATCH_CHECK(compared(driver, {driver.results().string()})["groups"].size() == 2);
}

}  // namespace
}  // namespace difflab
