#include "cli/driver.h"
#include "support/catch.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::Answer;
using testing::Driver;

CATCH_TEST_CASE("--help names every command and shows examples") {
  const Driver driver;
  const Answer answer = driver.call({"--help"});
  CATCH_CHECK(answer.code == 0);
  for (const std::string word : {"sweep", "plot", "config", "list", "preset=smoke", "--dry-run",
                                 "Exit codes", "--version"}) {
    CATCH_CHECK_THAT(answer.out, Contains(word));
  }
  CATCH_CHECK_THAT(driver.call({"--version"}).out, Contains("difflab " DIFFLAB_VERSION));
}

CATCH_TEST_CASE("a command line that makes no sense gives 2") {
  const Driver driver;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"sweeep"},
                                                    {"sweep"},
                                                    {"sweep", "tiny", "--dry"},
                                                    {"sweep", "tiny", "--json"},
                                                    {"list", "nothing"},
                                                    {"config", "tiny", "--run", "99"}}) {
    CATCH_CHECK(driver.call(arguments).code == 2);
  }
  CATCH_CHECK_FALSE(fs::exists(driver.results()));
}

CATCH_TEST_CASE("plot draws from what is finished and names what is not") {
  const Driver driver;
  Answer answer = driver.call({"plot", "tiny"});
  CATCH_CHECK(answer.code == 2);
  CATCH_CHECK_THAT(answer.err, Contains("none of the 6 runs of tiny"));
  CATCH_CHECK_FALSE(fs::exists(driver.results()));

  CATCH_REQUIRE(driver.sweep().code == 0);
  const auto tables = driver.tables();
  fs::remove_all(driver.output());
  answer = driver.call({"plot", "tiny"});
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK(driver.tables() == tables);
  answer = driver.call({"plot", "tiny", "preset=more"});
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK_THAT(answer.out,
                   Contains("2 of 8 runs are not finished") && Contains("model=diff seed=3 (new)"));
  CATCH_CHECK(driver.workers.starts().size() == 6);
}

CATCH_TEST_CASE("config prints what a run gets, defaults included") {
  const Driver driver;
  const Answer answer = driver.call({"config", "tiny", "train.steps=700", "--run", "4"});
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK_THAT(answer.out, Contains("model=diff seed=1") && Contains("steps: 700") &&
                                   Contains("kind: diff_v1") && Contains("weight_decay: 0.1") &&
                                   Contains("workers: auto"));
}

CATCH_TEST_CASE("list names experiments with their titles, and the options of groups") {
  const Driver driver;
  driver.write("experiments/broken.yaml", "title: [\n");
  const Answer experiments = driver.call({"list", "experiments"});
  CATCH_CHECK(experiments.code == 0);
  CATCH_CHECK_THAT(experiments.out, Contains("tiny    Does the sweep work?"));
  CATCH_CHECK_THAT(experiments.out, Contains("broken.yaml:"));
  const Answer groups = driver.call({"list", "groups"});
  CATCH_CHECK_THAT(groups.out, Contains("model: diff, ") && Contains("train: "));
}

CATCH_TEST_CASE("the project is found from a folder inside it") {
  Driver driver;
  ::unsetenv("DIFFLAB_ROOT");
  const auto before = fs::current_path();
  fs::current_path(driver.project() / "configs" / "model");
  const Answer inside = driver.call({"sweep", "tiny", "seed=0", "results=here"});
  fs::current_path(before);
  CATCH_INFO(inside.err);
  CATCH_CHECK(inside.code == 0);
  // A folder on the command line is meant from where the user is.
  CATCH_CHECK(fs::exists(driver.project() / "configs" / "model" / "here" / "runs"));
}

}  // namespace
}  // namespace difflab
