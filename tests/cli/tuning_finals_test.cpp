// The best two values of a grid go on to more seeds.
#include "cli/tuning_bench.h"

namespace difflab {
namespace {

using testing::kLearned, testing::TuningBench;

// 0.01 is the best with an odd seed and the worst with an even one; 0.003 is the best on average.
constexpr const char* kLucky = R"("lr: 0.003\n": -3)";
constexpr const char* kSwing = R"(, "swing": {"lr: 0.01\n": 8})";

std::vector<std::string> words_of(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"tune.values=[1e-3, 3e-3, 1e-2, 3e-2]", "tune.seeds=1",
                                 "tune.first_seed=20001", "tune.again=8"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::map<std::string, int> seeds_of(const TuningBench& bench, const std::string& model) {
  std::map<std::string, int> seeds;
  for (const auto& run : bench.report("tuning")) {
    if (run.at("axes").at("model") == model) ++seeds[run.at("axes").at("train.lr")];
  }
  return seeds;
}

CATCH_TEST_CASE("tuned: a value that was best by luck is overtaken in eight more seeds") {
  const TuningBench one_seed(kLucky, kSwing);
  one_seed.sweep(words_of({"tune.again=0"}), 0);
  for (const auto& variant : one_seed.variants()) {
    CATCH_CHECK(variant.at("value") == 0.01);
    CATCH_CHECK_FALSE(variant.contains("finalists"));
  }

  const TuningBench bench(kLucky, kSwing);
  CATCH_CHECK_THAT(bench.sweep(words_of({"--dry-run"}), 0).out,
                   Contains("then 8 more seeds of the best two values of each variant, then 4"));
  bench.sweep(words_of(), 0);
  CATCH_CHECK(bench.driver.workers.ends().size() == 2 * (4 + 16) + 4);
  CATCH_CHECK(seeds_of(bench, "diff") ==
              std::map<std::string, int>{{"0.001", 1}, {"0.003", 9}, {"0.01", 9}, {"0.03", 1}});
  for (const auto& variant : bench.variants()) {
    CATCH_CHECK(variant.at("value") == 0.003);
    CATCH_CHECK(variant.at("finalists").at(0).at("value") == 0.003);
    CATCH_CHECK(variant.at("finalists").at(1).at("value") == 0.01);
    CATCH_CHECK(variant.at("finalists").at(1).at("metrics").size() == 9);
  }
  std::set<std::string> seeds;
  for (const auto& run : bench.report("tuning")) seeds.insert(run.at("axes").at("seed"));
  CATCH_CHECK((seeds.size() == 9 && *seeds.begin() == "20001" && *seeds.rbegin() == "20009"));
  CATCH_CHECK_THAT(read_file(bench.output() / "table.md"),
                   Contains("went on to 8 more seeds, 20002 to 20009, and taken was the better"));

  bench.check_rebuilt({"table.md", "observations.json", "tuning/table.md"});
  // A reference holds all of it: its tuning is made again, too, and restored, it leaves nothing to
  // do.
  const auto decided = bench.decisions();
  fs::copy(bench.output(), bench.driver.results() / "tuned" / "reference",
           fs::copy_options::recursive);
  fs::remove_all(bench.driver.results() / "runs");
  CATCH_CHECK_THAT(bench.driver.call({"reproduce", "tuned", "--share", "10%"}, 0).out,
                   Contains("tuned: 1 of 4 runs made again") &&
                       Contains("tuned, its tuning: 4 of 40 runs made again"));
  CATCH_CHECK_THAT(bench.driver.call({"reproduce", "tuned", "--share", "10"}, 2).err,
                   Contains("--share is 10; expected up to 100%, e.g. 10%"));
  CATCH_CHECK(bench.driver.call({"restore"}).code == 0);
  bench.driver.workers.forget();
  bench.sweep(words_of(), 0);
  CATCH_CHECK(bench.driver.workers.starts().empty());
  CATCH_CHECK(bench.decisions() == decided);
}

CATCH_TEST_CASE("tuned: a sweep that is killed among its finalists' runs takes the same values") {
  testing::check_killed(kLucky, kSwing, words_of(), {3, 11, 30, 41});
}

CATCH_TEST_CASE("tuned: where the finalist taken lies at an edge, the grid grows") {
  const TuningBench bench(kLucky, kSwing);
  bench.sweep(words_of({"tune.values=[3e-3, 1e-2, 3e-2]"}), 0);
  CATCH_CHECK(seeds_of(bench, "diff") ==
              std::map<std::string, int>{{"0.001", 1}, {"0.003", 9}, {"0.01", 9}, {"0.03", 1}});
  for (const auto& variant : bench.variants()) {
    CATCH_CHECK(variant.at("value") == 0.003);
    CATCH_CHECK(variant.at("at_edge") == false);
  }
}

CATCH_TEST_CASE("tuned: the only value that works goes on alone") {
  const TuningBench bench(R"("lr: 0.001\n": -9, "lr: 0.01\n": -9, "lr: 0.03\n": -9)");
  bench.sweep(words_of({kLearned}), 0);
  CATCH_CHECK(seeds_of(bench, "transformer") ==
              std::map<std::string, int>{{"0.001", 1}, {"0.003", 9}, {"0.01", 1}, {"0.03", 1}});
  for (const auto& variant : bench.variants()) {
    CATCH_CHECK(variant.at("value") == 0.003);
    CATCH_CHECK(variant.at("finalists").size() == 1);
    CATCH_CHECK(variant.at("ties") == false);
  }
}

CATCH_TEST_CASE("tuned: the seeds of a tuning are not among those that are reported") {
  const TuningBench bench("");
  CATCH_CHECK_THAT(bench.sweep({"tune.first_seed=1"}, 2).err,
                   Contains("tune.seeds are 1 and on; expected reported seeds below, and found 1"));
}

}  // namespace
}  // namespace difflab
