// `difflab referee`: what it judges, and how it says so.
#include "cli/driver.h"
#include "support/catch.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::Answer;
using testing::Driver;

// A results folder with what a sweep wrote as its reference.
void commit(const Driver& driver) {
  CATCH_REQUIRE(driver.sweep().code == 0);
  fs::rename(driver.output(), driver.output().parent_path() / "reference");
}

CATCH_TEST_CASE("the referee names experiment, rule, place, and what to do, and exits with 1") {
  const Driver driver;
  commit(driver);
  const Answer answer = driver.call({"referee"});
  CATCH_INFO(answer.out << answer.err);
  CATCH_CHECK(answer.code == 1);
  // Nobody tuned the rates of the fake runs.
  CATCH_CHECK_THAT(answer.out, Contains("tiny: ") && Contains("  tuning ") &&
                                   Contains("runs.json: ") && Contains("-> tune every arm") &&
                                   Contains(" to 1 references"));
  const Answer json = driver.call({"referee", "tiny", "--json"});
  CATCH_CHECK(json.code == 1);
  const auto told = Json::parse(json.out);
  CATCH_CHECK(told.at("references") == Json::array({"tiny"}));
  CATCH_CHECK(told.at("rules").size() == 13);
  bool tuning = false;
  for (const auto& one : told.at("objections")) {
    CATCH_CHECK(one.at("experiment") == "tiny");
    CATCH_CHECK_FALSE(one.at("advice").get<std::string>().empty());
    tuning = tuning || one.at("rule") == "tuning";
    // What a sweep has just written follows from its folder.
    CATCH_CHECK((one.at("rule") != "recomputable" && one.at("rule") != "verdicts"));
  }
  CATCH_CHECK(tuning);
}

CATCH_TEST_CASE(
    "the referee exits with 0 where there is nothing to object, with 2 without a case") {
  const Driver driver;
  const Answer none = driver.call({"referee"});
  CATCH_CHECK(none.code == 2);
  CATCH_CHECK_THAT(none.err, Contains("holds no references"));
  CATCH_CHECK_THAT(driver.call({"referee", "results=" + driver.project().string()}).err,
                   Contains("holds no references"));
  commit(driver);
  const Answer typo = driver.call({"referee", "tinny"});
  CATCH_CHECK(typo.code == 2);
  CATCH_CHECK_THAT(typo.err, Contains("no reference of tinny") && Contains("did you mean tiny?"));
  CATCH_CHECK_THAT(driver.call({"referee", "preset=more"}).err, Contains("is no experiment"));

  // A report of nothing that was compared, from one clean commit.
  driver.write("experiments/tiny.yaml", R"(# @package _global_
title: Nothing is claimed.
sweep: {model: [transformer], seed: range(2)}
tables: [{name: table, rows: model, columns: [parameters]}]
)");
  fs::remove_all(driver.results() / "tiny");
  commit(driver);
  const auto runs = driver.results() / "tiny" / "reference" / "runs.json";
  auto record = Json::parse(read_file(runs));
  for (auto& run : record["runs"]) run["provenance"] = {{"commit", "0123"}, {"dirty", false}};
  write_file_atomically(runs, record.dump(1) + "\n");
  CATCH_REQUIRE(driver
                    .call({"report", "--from", driver.results() / "tiny" / "reference", "--to",
                           driver.results() / "still" / "reference"})
                    .code == 0);
  fs::remove_all(driver.results() / "tiny");
  const Answer good = driver.call({"referee"});
  CATCH_INFO(good.out << good.err);
  CATCH_CHECK(good.code == 0);
  CATCH_CHECK_THAT(good.out, Contains("1 references, ") && Contains("nothing to object"));
}

}  // namespace
}  // namespace difflab
