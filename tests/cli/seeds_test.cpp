// As many seeds as the claims need, as a user has it. The fake worker's losses are hashes of the
// configuration between 1 and 2, but for what is planted: DIFF's are lower by 5, and DIFF V2's vary
// so much from seed to seed that nothing can be said of their mean, whatever the hashes are.

#include <map>
#include <set>

#include "cli/driver.h"
#include "record/log/event_log.h"
#include "support/catch.h"
#include "support/fake_slurm.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using testing::Answer;
using testing::Driver;
using testing::eventually;

constexpr const char* kPlanted = R"("loss": {"name: diff\n": -5}, "swing": {"name: diff_v2\n": 3})";

constexpr const char* kSeeds = R"(# @package _global_
title: How many seeds?
baseline: transformer
unmatched: they need not be
sweep:
  model: [transformer, diff, diff_v2]
  seed: range(2)
seeds: {until: resolved, from: 10, to: 14, look_every: 2}
claims:
  - {text: DIFF has a lower loss, metric: valid_loss, variant: diff, expect: lower}
  - {text: DIFF V2 has a lower loss, metric: valid_loss, variant: diff_v2, expect: lower}
tables:
  - {name: table, rows: model, columns: [parameters, valid_loss]}
)";

struct Bench {
  explicit Bench(const std::string& more = "") {
    set(more);
    driver.write("experiments/seeds.yaml", kSeeds);
  }
  void set(const std::string& more) { driver.workers.set(concat("{", kPlanted, more, "}")); }
  Answer sweep(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"sweep", "seeds"});
    return driver.call(more);
  }
  fs::path output() const { return driver.results() / "seeds" / "default"; }
  // The seeds of each model whose runs have a result.
  std::map<std::string, std::set<int>> seeds() const {
    std::map<std::string, std::set<int>> found;
    const Json report = Json::parse(read_file(output() / "runs.json"));
    for (const auto& run : report.at("runs")) {
      if (run.at("status") == "finished") {
        found[run.at("axes").at("model")].insert(
            std::stoi(run.at("axes").at("seed").get<std::string>()));
      }
    }
    return found;
  }
  // Everything that was decided: which runs there are, and what the report says.
  std::string decisions() const {
    std::set<std::string> runs;
    for (const auto& run : fs::directory_iterator(driver.results() / "runs")) {
      if (fs::exists(run.path() / "result.json")) runs.insert(run.path().filename());
    }
    return concat(join(std::vector<std::string>(runs.begin(), runs.end())),
                  read_file(output() / "table.md"), read_file(output() / "summary.json"));
  }

  Driver driver;
};

// What an undisturbed sweep decides.
const std::string& undisturbed() {
  static const std::string decided = [] {
    const Bench bench;
    CATCH_REQUIRE(bench.sweep().code == 0);
    return bench.decisions();
  }();
  return decided;
}

CATCH_TEST_CASE("a claim that is resolved gets no more seeds, one that is not goes on to the end") {
  Bench bench;
  const Answer answer = bench.sweep();
  CATCH_INFO(answer.out << answer.err);
  CATCH_CHECK(answer.code == 0);
  const auto seeds = bench.seeds();
  CATCH_CHECK(seeds.at("diff").size() == 10);
  CATCH_CHECK(seeds.at("transformer").size() == 14);
  CATCH_CHECK(seeds.at("diff_v2").size() == 14);
  CATCH_CHECK(*seeds.at("diff_v2").rbegin() == 13);
  CATCH_CHECK(bench.driver.workers.ends().size() == 38);
  CATCH_CHECK_THAT(answer.out, Contains("runs       30 to 42") &&
                                   Contains("seeds      10 to 14, with a look after 10, 12, 14; "
                                            "0 of 3 looks made, 2 of 2 claims open") &&
                                   Contains("expected   not known"));
  CATCH_CHECK_THAT(answer.out, Contains("Supported at look 1 of 3 (10 of 14 seeds): DIFF has") &&
                                   Contains("Not resolved at look 3 of 3 (14 of 14 seeds)"));

  // Nothing is left, though four runs that were never needed have no result.
  CATCH_CHECK_THAT(bench.sweep({"--dry-run"}).out,
                   Contains("4 not needed") && !Contains("core-hours"));
  bench.driver.workers.forget();
  const Answer again = bench.sweep();
  CATCH_CHECK(again.code == 0);
  CATCH_CHECK_THAT(again.out, Contains("nothing to run: all 38 runs are finished"));
  CATCH_CHECK(bench.driver.workers.starts().empty());
  CATCH_CHECK_THAT(bench.driver.call({"plot", "seeds"}).out, !Contains("not finished"));
}

CATCH_TEST_CASE("the number of workers and the order of runs change no decision") {
  for (const char* how : {"launcher.workers=1", "launcher.workers=7"}) {
    Bench bench(R"(, "step_ms": 2)");
    CATCH_CHECK(bench.sweep({how, "launcher.order=shortest"}).code == 0);
    CATCH_CHECK(bench.decisions() == undisturbed());
  }
}

CATCH_TEST_CASE("a sweep that is killed between or within looks goes on to the same runs") {
  Bench bench(R"(, "steps": 4, "step_ms": 4)");
  bench.driver.kill_after({3, 29, 30, 32, 34, 36}, {"sweep", "seeds", "launcher.workers=2"});
  const Answer answer = bench.sweep();
  CATCH_INFO(answer.out << answer.err);
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK(bench.decisions() == undisturbed());
  CATCH_CHECK(bench.driver.workers.ends().size() == 38);
  for (const auto& [run, times] : bench.driver.workers.ends()) CATCH_CHECK(times == 1);
}

CATCH_TEST_CASE("a run that fails ends the looks until it has its result") {
  Bench bench(R"(, "exit": {"seed: 3\n": 2})");
  const Answer answer = bench.sweep();
  CATCH_INFO(answer.out << answer.err);
  CATCH_CHECK(answer.code == 1);
  CATCH_CHECK(bench.driver.workers.ends().size() == 27);
  CATCH_CHECK_THAT(answer.out, Contains("No verdict before look 1 of 3, which takes 10 seeds"));
  CATCH_CHECK_THAT(answer.err, Contains("3 of the runs failed"));
  bench.set("");
  CATCH_CHECK(bench.sweep().code == 0);
  CATCH_CHECK(bench.decisions() == undisturbed());
}

CATCH_TEST_CASE("seeds that somebody else has run are not looked at before their turn") {
  Bench bench;
  CATCH_REQUIRE(bench.sweep({"seeds.until=swept", "seed=range(14)"}).code == 0);
  bench.driver.workers.forget();
  const Answer answer = bench.sweep();
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK(bench.driver.workers.starts().empty());
  CATCH_CHECK(bench.seeds().at("diff").size() == 10);
  CATCH_CHECK_THAT(answer.out, Contains("Supported at look 1 of 3 (10 of 14 seeds): DIFF has"));
}

CATCH_TEST_CASE("a frozen sweep holds the runs until the next look, and says what comes then") {
  Bench bench;
  std::vector<std::size_t> frozen;
  for (int look = 0; look < 3; ++look) {
    CATCH_REQUIRE(bench.sweep({"--freeze"}).code == 0);
    const auto folder = bench.output().string();
    frozen.push_back(Json::parse(read_file(fs::path(folder) / "plan.json")).at("runs").size());
    const Answer worked = bench.driver.call({"work", folder});
    CATCH_INFO(worked.err);
    CATCH_CHECK(worked.code == 0);
    CATCH_CHECK_THAT(bench.driver.call({"status", folder}).out,
                     look < 2 ? Contains("these runs are all finished; more may follow: "
                                         "./difflab sweep seeds\n")
                              : Contains("all runs are finished; tables and report:"));
  }
  CATCH_CHECK(frozen == std::vector<std::size_t>{30, 34, 38});
  CATCH_CHECK(bench.driver.call({"plot", "seeds"}).code == 0);
  CATCH_CHECK(bench.decisions() == undisturbed());
}

CATCH_TEST_CASE("Slurm gets the runs of a look, and the same command submits the next") {
  const testing::FakeSlurm slurm;
  Bench bench;
  slurm.set("execute", "");
  for (const char* submitted : {"30 runs in", "4 runs in", "4 runs in"}) {
    const Answer answer = bench.sweep({"launcher=slurm"});
    CATCH_INFO(answer.out << answer.err);
    CATCH_CHECK(answer.code == 0);
    CATCH_CHECK_THAT(answer.out, Contains(submitted));
    CATCH_CHECK(bench.driver.call({"wait", bench.output().string(), "--every=0.01"}).code == 0);
  }
  const Answer last = bench.sweep({"launcher=slurm"});
  CATCH_CHECK_THAT(last.out, Contains("nothing to run: all 38 runs are finished"));
  CATCH_CHECK(bench.seeds().at("diff").size() == 10);
  CATCH_CHECK(bench.seeds().at("diff_v2").size() == 14);
}

CATCH_TEST_CASE("the dry run says how many seeds there may be and runs nothing") {
  const Bench bench;
  const Answer answer = bench.sweep({"--dry-run"});
  CATCH_CHECK(answer.code == 0);
  CATCH_CHECK_THAT(answer.out, Contains("42 runs: 12 later, 30 new\nseeds: 10 to 14, with a look "
                                        "after 10, 12, 14; 0 of 3 looks made"));
  CATCH_CHECK_THAT(bench.sweep({"--dry-run", "seeds.to=6", "seeds.from=4"}).out,
                   Contains("6 seeds are too few for a verdict; seeds.to=8"));
}

CATCH_TEST_CASE("seeds that cannot be added are refused in plain words") {
  const Bench bench;
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Answer answer = bench.sweep(more);
    CATCH_CHECK(answer.code == 2);
    CATCH_CHECK_FALSE(fs::exists(bench.driver.results()));
    return answer.err;
  };
  CATCH_CHECK_THAT(refusal({"seeds.to=9"}),
                   Contains("seeds.to") && Contains("is 9 with from 10; expected at least"));
  CATCH_CHECK_THAT(refusal({"seeds.look_every=0"}), Contains("seeds.look_every"));
  CATCH_CHECK_THAT(refusal({"seeds.until=resolve"}), Contains("did you mean resolved"));
  CATCH_CHECK_THAT(refusal({"claims=[]"}),
                   Contains("there is no claim; expected claims, or swept"));
  CATCH_CHECK_THAT(refusal({"seed=range(3)"}), Contains("seed=range(3) is given, too"));
  CATCH_CHECK_THAT(refusal({"sweep.seed=range(3)"}), Contains("is given, too"));
  CATCH_CHECK_THAT(refusal({"sweep={seed: [1, 2]}"}), Contains("is given, too"));
  CATCH_CHECK_THAT(refusal({"search.axis=model"}), Contains("seeds.until"));
  CATCH_CHECK_THAT(refusal({"+sweep.exclude=[{seed: 3}]"}), Contains("leaves model=diff 13 of 14"));
}

}  // namespace
}  // namespace difflab
