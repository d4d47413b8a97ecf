// `difflab referee`: what it judges, and how it says so.
#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

// A results folder with what a sweep wrote as its reference.
void commit(const Driver& driver) {
  CATCH_REQUIRE(driver.sweep().code == 0);
  fs::rename(driver.output(), driver.output().parent_path() / "reference");
}

CATCH_TEST_CASE("the referee names experiment, rule, place, and what to do, and exits with 1") {
  const Driver driver;
  commit(driver);
  const Answer answer = driver.call({"referee"}, 1);
  // Nobody tuned the rates of the fake runs.
  CATCH_CHECK_THAT(answer.out, Contains("tiny: ") && Contains("  tuning ") &&
                                   Contains("runs.json: ") && Contains("-> tune every arm") &&
                                   Contains(" to 1 references"));
  const auto told = Json::parse(driver.call({"referee", "tiny", "--json"}, 1).out);
  CATCH_CHECK(told.at("references") == Json::array({"tiny"}));
  CATCH_CHECK(told.at("rules").size() == 14);
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
  CATCH_CHECK_THAT(driver.call({"referee"}, 2).err, Contains("holds no references"));
  CATCH_CHECK_THAT(driver.call({"referee", "results=" + driver.project().string()}).err,
                   Contains("holds no references"));
  commit(driver);
  CATCH_CHECK_THAT(driver.call({"referee", "tinny"}, 2).err,
                   Contains("no reference of tinny") && Contains("did you mean tiny?"));
  CATCH_CHECK_THAT(driver.call({"referee", "preset=more"}).err, Contains("is not an experiment"));

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
  driver.call({"report", "--from", driver.results() / "tiny" / "reference", "--to",
               driver.results() / "still" / "reference"},
              0);
  fs::remove_all(driver.results() / "tiny");
  CATCH_CHECK_THAT(driver.call({"referee"}, 0).out,
                   Contains("1 references, ") && Contains("nothing to object"));
}

}  // namespace
}  // namespace difflab
