// What the driver makes of `difflab show`; what the worker prints is tested in tests/task.
#include "cli/driver.h"

namespace difflab {
namespace {

using testing::Answer, testing::Driver;

/// While one exists, the worker only says what it was called with, one argument a line.
class TalkingWorker {
 public:
  explicit TalkingWorker(const Driver& driver) : before_(std::getenv("DIFFLAB_WORKER")) {
    const auto script = driver.project() / "worker";
    driver.write("worker", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    ::setenv("DIFFLAB_WORKER", script.c_str(), 1);
  }
  ~TalkingWorker() { ::setenv("DIFFLAB_WORKER", before_.c_str(), 1); }
  TalkingWorker(const TalkingWorker&) = delete;
  TalkingWorker& operator=(const TalkingWorker&) = delete;

 private:
  std::string before_;
};

CATCH_TEST_CASE("show hands the resolved task, seed, split and number of samples to the worker") {
  const Driver driver;
  const TalkingWorker worker(driver);
  Answer answer = driver.call({"show", "task=mqar", "task.pairs=3", "--samples", "5", "--seed", "9",
                               "--split", "test", "--json"},
                              0);
  const auto first_line = answer.out.find('\n');
  CATCH_CHECK(answer.out.substr(0, first_line) == "show");
  const auto second_line = answer.out.find('\n', first_line + 1);
  const Json config = Json::parse(answer.out.substr(first_line + 1, second_line - first_line - 1));
  CATCH_CHECK(config["task"]["kind"] == "mqar");
  CATCH_CHECK(config["task"]["pairs"] == 3);
  CATCH_CHECK(config["task"]["length"] == 64);
  CATCH_CHECK(answer.out.substr(second_line + 1) == "9\n2\n5\n--json\n");

  answer = driver.call({"show", "tiny", "--run", "5"});  // an experiment's task
  CATCH_CHECK_THAT(answer.out, Contains("\"kind\":\"needle_recall\"") && Contains("\n0\n0\n2\n"));
}

CATCH_TEST_CASE("show refuses what cannot be shown") {
  const Driver driver;
  CATCH_CHECK_THAT(driver.call({"show", "task=mqar", "task.length=8"}).err,
                   Contains("the smallest that fits is 32"));
  CATCH_CHECK_THAT(driver.call({"show", "tiny", "--run", "6"}).err,
                   Contains("--run is 6; expected 0 to 5"));
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"show", "task=mqaar"},
                                                    {"show", "task=mqar", "--split", "dev"},
                                                    {"show", "task=mqar", "--samples", "0"},
                                                    {"show", "task=mqar", "--seed", "-1"}}) {
    CATCH_CHECK(driver.call(arguments).code == 2);
  }
}

}  // namespace
}  // namespace difflab
