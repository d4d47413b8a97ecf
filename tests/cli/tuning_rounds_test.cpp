// What a tuning leaves out, what its grid may become, and what its file may.
#include "cli/tuning_bench.h"

namespace difflab {
namespace {

using testing::Answer, testing::check_killed, testing::Driver, testing::eventually;
using testing::kInside, testing::kLearned, testing::kTunedStudy, testing::TuningBench;

// At the lowest rate nothing learns.
constexpr const char* kLowestIsNone = R"("lr: 0.001\n": -5, "lr: 0.01\n": 1)";

std::map<std::string, int> seeds_tried(const TuningBench& bench) {
  std::map<std::string, int> seeds;
  for (const auto& run : bench.report("tuning")) {
    ++seeds[run.at("axes").at("train.lr").get<std::string>()];
  }
  return seeds;
}

CATCH_TEST_CASE("tuned: a value that cannot be the best is left after one seed") {
  Json of_every_seed;
  {
    const TuningBench whole(kLowestIsNone);
    CATCH_REQUIRE(whole.sweep({kLearned, "tune.seeds=3", "tune.every_seed=true"}).code == 0);
    CATCH_CHECK(seeds_tried(whole) ==
                std::map<std::string, int>{{"0.001", 6}, {"0.003", 6}, {"0.01", 6}});
    CATCH_CHECK(whole.driver.workers.ends().size() == 18 + 4);
    CATCH_CHECK_THAT(read_file(whole.output() / "table.md"), !Contains("ended with one seed"));
    of_every_seed = whole.variants();
  }
  const TuningBench bench(kLowestIsNone);
  CATCH_CHECK_THAT(
      bench.sweep({kLearned, "tune.seeds=3", "--dry-run"}).out,
      Contains("6 runs: 6 new") &&
          Contains("then the other seeds of values that may be the best, then 4 runs with the"));
  CATCH_REQUIRE(bench.sweep({kLearned, "tune.seeds=3"}).code == 0);
  CATCH_CHECK(seeds_tried(bench) ==
              std::map<std::string, int>{{"0.001", 2}, {"0.003", 6}, {"0.01", 6}});
  CATCH_CHECK(bench.driver.workers.ends().size() == 14 + 4);
  CATCH_CHECK(bench.variants() == of_every_seed);
  CATCH_CHECK_THAT(read_file(bench.output() / "table.md"),
                   Contains("2 of the 6 trials of a value for a variant ended with one seed"));

  bench.check_rebuilt({"table.md", "observations.json", "tuning/table.md"});
  const auto decided = bench.decisions();
  CATCH_CHECK(bench.sweep({kLearned, "tune.seeds=3"}).code == 0);
  CATCH_CHECK(bench.decisions() == decided);
}

CATCH_TEST_CASE("tuned: where no value learns with every seed, all values are tried with all") {
  const TuningBench bench(R"("lr: 0.001\n": -5, "seed: 10001\n": -8)");
  CATCH_REQUIRE(bench.sweep({kLearned, "tune.seeds=3", "tune.grow=false"}).code == 0);
  CATCH_CHECK(seeds_tried(bench) ==
              std::map<std::string, int>{{"0.001", 6}, {"0.003", 6}, {"0.01", 6}});
  for (const auto& variant : bench.variants()) CATCH_CHECK(variant.at("value") > 0.001);
}

CATCH_TEST_CASE("tuned: a sweep that leaves values is killed and comes to the same values") {
  check_killed(kLowestIsNone, "", {kLearned, "tune.seeds=3"}, {3, 8, 13, 16});
}

// DIFF learns in runs of 400 steps alone: the worker takes the first that matches.
constexpr const char* kDiffIsLate = R"("  steps: 400\n": 1, "name: diff\n": -9)";

CATCH_TEST_CASE("tuned: a variant of which no value works is tried anew in longer runs") {
  const std::vector<std::string> words{kLearned, "tune.steps=170", "tune.longer=400",
                                       "tune.seeds=3", "tune.grow=false"};
  const TuningBench bench(kDiffIsLate);
  bench.sweep(words, 0);
  // DIFF's shorter runs end with one seed, as longer ones are to follow.
  CATCH_CHECK(bench.driver.workers.ends().size() == 9 + 3 + 9 + 4);
  std::map<std::string, int> reported;
  for (const auto& run : bench.report("tuning")) {
    const auto folder = bench.driver.results() / "runs" / run.at("id").get<std::string>();
    const bool is_late = run.at("axes").at("model") == "diff";
    CATCH_CHECK_THAT(read_file(folder / "config.yaml"),
                     Contains(is_late ? "steps: 400\n" : "steps: 170\n"));
    ++reported[run.at("axes").at("model").get<std::string>()];
  }
  CATCH_CHECK(reported == std::map<std::string, int>{{"transformer", 9}, {"diff", 9}});
  for (const auto& variant : bench.variants()) {
    CATCH_CHECK(!variant.at("value").is_null());
    CATCH_CHECK(variant.contains("is_longer") == (variant.at("axes").at(0).at(1) == "diff"));
  }
  CATCH_CHECK_THAT(
      read_file(bench.output() / "table.md"),
      Contains("in runs of 170 steps") &&
          Contains(
              "With the first seed no value worked in these steps for diff, so that all were tried "
              "anew there in runs of 400 steps"));

  // What longer runs took the place of is kept, so that a reference can be restored in full.
  const auto shorter = bench.report("tuning/shorter");
  CATCH_CHECK(shorter.size() == 3);
  for (const auto& run : shorter) CATCH_CHECK(run.at("axes").at("model") == "diff");

  bench.check_rebuilt(
      {"table.md", "observations.json", "tuning/table.md", "tuning/shorter/table.md"});
  const auto decided = bench.decisions();
  bench.driver.workers.forget();
  CATCH_CHECK(bench.sweep(words).code == 0);
  CATCH_CHECK(bench.driver.workers.starts().empty());
  CATCH_CHECK(bench.decisions() == decided);

  // A reference holds all of it: restored, it leaves nothing to do.
  fs::copy(bench.output(), bench.driver.results() / "tuned" / "reference",
           fs::copy_options::recursive);
  fs::remove_all(bench.driver.results() / "runs");
  CATCH_CHECK(bench.driver.call({"restore"}).code == 0);
  CATCH_CHECK(bench.sweep(words).code == 0);
  CATCH_CHECK(bench.driver.workers.starts().empty());
  CATCH_CHECK(bench.decisions() == decided);
}

CATCH_TEST_CASE("tuned: where longer runs are not asked for, or do not help, nothing is tunable") {
  const TuningBench bench(kDiffIsLate);
  CATCH_CHECK(bench.sweep({kLearned, "tune.steps=170"}).code == 0);
  CATCH_CHECK(bench.variants().at(1).at("value").is_null());
  const TuningBench never(R"("name: diff\n": -9)");
  CATCH_CHECK(never.sweep({kLearned, "tune.steps=170", "tune.longer=400"}).code == 0);
  CATCH_CHECK(never.variants().at(1).at("value").is_null());
  CATCH_CHECK_THAT(read_file(never.output() / "table.md"),
                   Contains("runs of 400 steps") && Contains("Not tunable, as none"));
  CATCH_CHECK_THAT(bench.sweep({"tune.steps=170", "tune.longer=170"}).err,
                   Contains("tune.longer is 170; expected more than 170, the steps of its other"));
  CATCH_CHECK_THAT(bench.sweep({"train.steps=150", "tune.longer=150"}).err,
                   Contains("tune.longer is 150; expected more than 150"));
}

CATCH_TEST_CASE("tuned: a sweep that is killed among its longer runs comes to the same values") {
  check_killed(kDiffIsLate, "", {kLearned, "tune.steps=170", "tune.longer=400", "tune.seeds=3"},
               {4, 13, 17, 22});
}

CATCH_TEST_CASE("tuned: a metric that no run has is not one at which nothing learns") {
  const TuningBench bench(kInside);
  CATCH_CHECK_THAT(bench.sweep({"tune.metric=valid_los"}, 2).err,
                   Contains("tune.metric is valid_los, which names no metric of these") &&
                       Contains("did you mean valid_loss?"));
  CATCH_CHECK(bench.sweep({"tune.metric=test_loss"}).code == 2);  // measured after training
}

CATCH_TEST_CASE("tuned: a grid does not grow out of what its key allows") {
  const TuningBench bench(R"("beta2: 0.9\n": -3, "warmup_steps: 5\n": -9)");
  CATCH_CHECK(bench.sweep({"tune.key=train.beta2", "tune.values=[0.5, 0.7, 0.9]"}).code == 0);
  for (const auto& variant : bench.variants()) {
    CATCH_CHECK(variant.at("value") == 0.9);
    CATCH_CHECK(variant.at("at_edge") == true);
  }
  const TuningBench whole(R"("warmup_steps: 3\n": -9, "warmup_steps: 5\n": -8)");
  CATCH_CHECK(whole.sweep({"tune.key=train.warmup_steps", "tune.values=[5, 10, 20]"}).code == 0);
  for (const auto& variant : whole.variants()) CATCH_CHECK(variant.at("value") == 3);
}

CATCH_TEST_CASE("tuned: a part that is one reference keeps its other keys") {
  const TuningBench bench(kInside);
  bench.driver.write("experiments/tuned.yaml",
                     concat(kTunedStudy, "vars: {short: {steps: 60, warmup_steps: 7, lr: 0.5}}\n",
                            "train: ${vars.short}\n"));
  bench.sweep({}, 0);
  for (const auto& run : fs::directory_iterator(bench.driver.results() / "runs")) {
    const auto config = read_file(run.path() / "config.yaml");
    CATCH_CHECK_THAT(
        config, Contains("steps: 60\n") && Contains("warmup_steps: 7\n") && !Contains("lr: 0.5\n"));
  }
}

CATCH_TEST_CASE("tuned: an item of a list is a key, however its place is written") {
  const TuningBench bench(kInside);
  bench.driver.write("experiments/tuned.yaml",
                     concat(kTunedStudy, "stages: [{train: {steps: 60, warmup_steps: 7}}]\n"));
  for (const char* key : {"stages[0].train.lr", "stages.0.train.lr"}) {
    CATCH_CHECK_THAT(bench.sweep({concat("tune.key='", key, "'"), "--dry-run"}, 0).out,
                     Contains("0.003"));
  }
}

CATCH_TEST_CASE("tuned: what refers to the tuned key, the seed or the steps follows them") {
  const TuningBench bench(kInside);
  CATCH_REQUIRE(bench
                    .sweep({"train.weight_decay=${train.lr}", "train.eval_samples=${train.steps}",
                            "model.norm_eps=${seed}", "tune.steps=170"})
                    .code == 0);
  int tried = 0;
  for (const auto& run : fs::directory_iterator(bench.driver.results() / "runs")) {
    const auto config = read_file(run.path() / "config.yaml");
    const auto value_of = [&](const std::string& key) {
      const auto at = config.find("\n" + key + ": ");
      const auto in = at == config.npos ? config.find("  " + key + ": ") : at;
      const auto from = config.find(": ", in) + 2;
      return std::stod(config.substr(from, config.find('\n', from) - from));
    };
    CATCH_CHECK(value_of("weight_decay") == value_of("lr"));
    CATCH_CHECK(value_of("eval_samples") == value_of("steps"));
    CATCH_CHECK(value_of("norm_eps") == value_of("seed"));
    tried += value_of("seed") >= 10'000 ? 1 : 0;
  }
  CATCH_CHECK(tried == 12);
}

CATCH_TEST_CASE("tuned: a sweep goes on as it began, whatever becomes of its file") {
  const TuningBench bench(kInside, R"(, "step_ms": 20, "steps": 5)");
  const auto driver = bench.driver.start({"sweep", "tuned", "launcher.workers=2"});
  CATCH_REQUIRE(eventually([&] { return !bench.driver.workers.starts().empty(); }));
  bench.driver.write("experiments/tuned.yaml", "sweep: {seed: range(5");  // half saved
  Driver::finish(*driver, 0);
  CATCH_CHECK(bench.report().size() == 4);
}

CATCH_TEST_CASE("tuned: of several experiments one that cannot go on stops no other") {
  const TuningBench bench(kInside);
  bench.driver.write("experiments/other.yaml", kTunedStudy);
  const Answer answer = bench.driver.call(
      {"sweep", "tuned,other", "tune.metric=valid_accuracy", "tune.grow=false", "tune.seeds=1"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("error: tuned: ") && Contains("error: other: "));
}

}  // namespace
}  // namespace difflab
