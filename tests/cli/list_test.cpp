#include "cli/driver.h"

namespace difflab {
namespace {

using Catch::StartsWith;
using testing::Answer, testing::Driver;

CATCH_TEST_CASE("list names experiments with their titles, and the options of groups") {
  const Driver driver;
  driver.write("experiments/broken.yaml", "title: [\n");
  const Answer experiments = driver.call({"list", "experiments"}, 0);
  CATCH_CHECK_THAT(experiments.out, Contains("tiny    Does the sweep work?"));
  CATCH_CHECK_THAT(experiments.out, Contains("broken.yaml:"));
  const Answer groups = driver.call({"list", "groups"});
  CATCH_CHECK_THAT(groups.out, Contains("model: diff, ") && Contains("train: "));
}

CATCH_TEST_CASE("list says of every kind what it is, in one line") {
  const Driver driver;
  for (const std::string what : {"attention", "tasks", "evaluations", "launchers", "figures",
                                 "derived", "metrics", "optimizers"}) {
    CATCH_INFO(what);
    std::istringstream lines(driver.call({"list", what}, 0).out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      CATCH_INFO(line);
      const auto blanks = line.find("  ");
      CATCH_CHECK(blanks != std::string::npos);
      CATCH_CHECK(line.find_last_not_of(' ') > blanks);  // something stands behind the name
    }
    CATCH_CHECK(count > 0);
  }
  // However wide the column of names is.
  const auto about = [&](const std::string& what, const std::string& name) {
    std::istringstream lines(driver.call({"list", what}).out);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name + " "))
        return line.substr(line.find_first_not_of(' ', name.size()));
    }
    return std::string("is not listed");
  };
  CATCH_CHECK_THAT(about("attention", "softmax"), StartsWith("the Transformer's"));
  CATCH_CHECK_THAT(about("attention", "diff_v2"), StartsWith("DIFF V2"));
  CATCH_CHECK(about("metrics", "lambda_distribution") == "lambda_mean, lambda_sd");
  CATCH_CHECK(about("metrics", "sample_text") == "none");
  CATCH_CHECK_THAT(about("metrics", "ar_hit"),
                   StartsWith("ar_hit_share (share), ar_hit_loss (lower is better), "
                              "ar_hit_accuracy (share, higher is better)"));
}

CATCH_TEST_CASE("list outputs names every folder of a report with the command that writes it") {
  const Driver driver;
  CATCH_CHECK(driver.call({"list", "outputs"}).out == "");
  for (const char* typed : {"train.steps=700", "seed=0"}) {
    CATCH_REQUIRE(driver.call({"sweep", "tiny", typed}).code == 0);
  }
  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto listed = driver.call({"list", "outputs"}).out;
  CATCH_CHECK_THAT(listed, Contains("results/tiny/default  ") &&
                               Contains("/difflab sweep tiny train.steps=700\n") &&
                               Contains("/difflab sweep tiny seed=0\n"));
  CATCH_CHECK(std::count(listed.begin(), listed.end(), '\n') == 3);
}

CATCH_TEST_CASE("docs/keys.md is what list keys prints") {
  const Driver driver;
  const Answer answer = driver.call({"list", "keys"}, 0);
  CATCH_CHECK((answer.out == read_file(DIFFLAB_ROOT "/docs/keys.md")));
}

}  // namespace
}  // namespace difflab
