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
               "model: {name: a}\nseed: 1\ntrain: {lr: 0.1, steps: 5}\nevaluate: [heldout]\n");
  driver.write("results/runs/abd2/config.yaml",
               "model: {name: b}\nseed: 1\ntrain: {lr: 0.2}\nevaluate: [heldout]\n");
  const Json keys = compared(driver, {"abc", "abd2"})["keys"];
  CATCH_CHECK(keys == Json::array({{{"key", "train.lr"}, {"values", {"0.1", "0.2"}}},
                                   {{"key", "train.steps"}, {"values", {"5", "(no key)"}}},
                                   {{"key", "model.name"}, {"values", {"a", "b"}}}}));
  const auto folder = (driver.results() / "runs" / "abd2").string();
  const auto shown = driver.call({"compare", "abc1", folder});
  CATCH_CHECK_THAT(shown.out, Contains("train.steps  5") && Contains("(no key)"));
  CATCH_CHECK_THAT(shown.err, Contains("no metric is in every run"));
  CATCH_CHECK_THAT(driver.call({"compare", "ab", "abd"}).err, Contains("2 runs begin with 'ab'"));
  CATCH_CHECK_THAT(driver.call({"compare", "abc"}).err, Contains("all runs are of one group, a"));
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
