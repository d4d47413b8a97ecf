// What the runs of one value of a tuning say together.
#include "record/run_directory.h"
#include "study/load/tuning_parts.h"
#include "support/catch.h"

namespace difflab::study {
namespace {

CATCH_TEST_CASE("values whose seeds have the same mean are equally good, to the last bit") {
  const testing::TemporaryFolder folder;
  StudyConfig study;
  study.tune.metric = "steps_to_found";
  const Trials trials(study, "tuned");
  const auto runs_with = [&](const std::string& value, const std::vector<int>& steps) {
    std::vector<sweep::Run> runs;
    for (const int found : steps) {
      const auto id = concat(value, "-", found);
      const RunDirectory directory{folder.path() / id};
      make_directories(directory.path);
      const Json result = {{"schema", 1},
                           {"id", id},
                           {"status", "finished"},
                           {"metrics", {{"steps_to_found", found}}},
                           {"evaluations", Json::object()}};
      write_file_atomically(directory.result(), result.dump());
      runs.push_back({id, {{"train.lr", value}}, Json::object(), "", directory});
    }
    return runs;
  };
  // A third of each, added up, would be 838.3333333333334 and 838.3333333333333.
  const auto first = trials.read(runs_with("0.004", {1085, 75, 1355}));
  const auto second = trials.read(runs_with("0.008", {570, 1125, 820}));
  CATCH_REQUIRE((first && second));
  CATCH_CHECK(first->metric == 2515.0 / 3);
  CATCH_CHECK_FALSE(first->is_better_than(*second));
  CATCH_CHECK_FALSE(second->is_better_than(*first));
}

}  // namespace
}  // namespace difflab::study
