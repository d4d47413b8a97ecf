// A searched axis as a user has it: chosen while the sweep runs, reported by its choice alone.

#include "cli/driver.h"
#include "support/catch.h"

namespace difflab {
namespace {

using Catch::Contains;
using testing::Answer;
using testing::Driver;

const std::vector<std::string> kSearch{"sweep",
                                       "tiny",
                                       "train.lr=1e-2,1e-3,1e-4",
                                       "train.steps=12",
                                       "train.warmup_steps=1",
                                       "train.eval_every=2",
                                       "search.axis=train.lr"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

CATCH_TEST_CASE("a search leaves one learning rate for each model in the table") {
  Driver driver;
  driver.workers.set(R"({"live_metrics": true, "steps": 12, "step_ms": 80})");
  const auto arguments =
      with(kSearch, {"tables=[{name: table, rows: model, columns: [train.lr, valid_loss]}]"});
  const Answer first = driver.call(arguments);
  CATCH_INFO(first.err);
  CATCH_CHECK(first.code == 0);
  CATCH_CHECK_THAT(
      first.out,
      Contains("search     train.lr: 3 values, 2 after 4 steps, 1 after 6 steps; 132 training "
               "steps instead of 216"));
  CATCH_CHECK_THAT(first.out, Contains("was chosen for each variant by successive halving") &&
                                  Contains("12 runs were dropped"));
  CATCH_CHECK(driver.workers.ends().size() < 18);
  // 3 seeds of each model: the average of one learning rate, not of three.
  for (const auto& folder : std::filesystem::directory_iterator(driver.results() / "tiny")) {
    CATCH_CHECK_THAT(read_file(folder.path() / "table.md"),
                     Contains("| transformer | 3 |") && Contains("| diff | 3 |"));
  }

  auto watched = arguments;
  watched[0] = "watch";
  watched.push_back("--once");
  const Answer watch = driver.call(watched);
  CATCH_INFO(watch.out << watch.err);
  CATCH_CHECK(watch.code == 0);

  driver.workers.forget();
  const Answer second = driver.call(arguments);
  CATCH_CHECK(second.code == 0);
  CATCH_CHECK_THAT(second.out, Contains("nothing to run: all 6 runs are finished"));
  CATCH_CHECK(driver.workers.starts().empty());
}

CATCH_TEST_CASE("a search is refused where its values are shown, missing, or given away") {
  const Driver driver;
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Answer answer = driver.call(with(kSearch, more));
    CATCH_CHECK(answer.code == 2);
    CATCH_CHECK_FALSE(std::filesystem::exists(driver.results()));
    return answer.err;
  };
  CATCH_CHECK_THAT(
      refusal({"tables=[{name: table, rows: [model, train.lr], columns: [valid_loss]}]"}),
      Contains("of which search keeps one value"));
  CATCH_CHECK_THAT(refusal({"search.axis=train.lrr"}), Contains("did you mean train.lr"));
  CATCH_CHECK_THAT(refusal({"search.axis=seed"}), Contains("other than seed"));
  CATCH_CHECK_THAT(refusal({"search.rungs=[0.5,0.25]"}), Contains("expected growing shares"));
  CATCH_CHECK_THAT(refusal({"train.eval_every=12"}), Contains("falls on step 12"));
  CATCH_CHECK_THAT(refusal({"launcher=slurm"}), Contains("needs launcher=local"));
  CATCH_CHECK_THAT(refusal({"--freeze"}), Contains("expected launcher=local"));
}

}  // namespace
}  // namespace difflab
