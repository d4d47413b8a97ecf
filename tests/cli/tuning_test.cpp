// A key that is tuned for each variant, as a user has it. The fake worker's losses are hashes of
// the configuration between 1 and 2, with what is planted added to them.
#include "cli/tuning_bench.h"
#include "record/run_directory.h"
#include "support/fake_slurm.h"

namespace difflab {
namespace {

using testing::Answer, testing::kBeyond, testing::kDiffIsLower, testing::kInside, testing::kLearned;
using testing::TuningBench;

CATCH_TEST_CASE("tuned: each variant's runs have the value that was found before") {
  const TuningBench bench(kInside);
  const Answer answer = bench.sweep({}, 0);
  CATCH_CHECK(bench.driver.workers.ends().size() == 12 + 4);
  CATCH_CHECK(bench.report("tuning").size() == 12);
  CATCH_CHECK(bench.report().size() == 4);
  for (const auto& run : bench.report()) {
    const auto folder = bench.driver.results() / "runs" / run.at("id").get<std::string>();
    CATCH_CHECK_THAT(read_file(folder / "config.yaml"), Contains("lr: 0.003\n"));
    CATCH_CHECK(run.at("axes").size() == 2);  // the tuned key is none of them
  }
  CATCH_CHECK_THAT(
      bench.driver.call({"config", "tuned", "--why", "train.lr"}).out,
      Contains("train.lr: 0.003\n  from tune, whose runs are in ") && Contains("\n  over "));
  // All that is wrong is said at once.
  CATCH_CHECK_THAT(bench.driver.call({"sweep", "tuned", "train.steps=[1", "modl.x=3"}).err,
                   Contains("train.steps=[1") && Contains("modl"));
  CATCH_CHECK_THAT(answer.out, Contains("Tuning of train.lr: Which model is better?") &&
                                   Contains("tuned      train.lr: transformer 0.003, diff 0.003"));
  CATCH_CHECK_THAT(read_file(bench.output() / "table.md"),
                   Contains("0.001, 0.003, 0.01, in runs of") &&
                       Contains("with seeds 10000, 10001") &&
                       Contains("lowest mean valid\\_loss: transformer 0.003, diff 0.003.") &&
                       !Contains("(edge)"));
  CATCH_CHECK_THAT(read_file(bench.output() / "report.html"), Contains("tuning/report.html"));

  bench.driver.workers.forget();
  CATCH_CHECK_THAT(bench.sweep().out, Contains("nothing to run: all 4 runs are finished"));
  CATCH_CHECK(bench.driver.workers.starts().empty());
  CATCH_CHECK(bench.driver.call({"plot", "tuned"}).code == 0);
}

CATCH_TEST_CASE("tuned: the runs that find the value ask nothing and train as they are told") {
  const TuningBench bench(kInside);
  bench.sweep({"tune.steps=170", "evaluate=[{kind: heldout, samples: 7}]"}, 0);
  int tried = 0;
  for (const auto& run : fs::directory_iterator(bench.driver.results() / "runs")) {
    const auto config = read_file(run.path() / "config.yaml");
    const bool is_tuning = config.find("\nseed: 1000") != config.npos;
    tried += is_tuning ? 1 : 0;
    CATCH_CHECK((config.find("steps: 170\n") != config.npos) == is_tuning);
    CATCH_CHECK((config.find("evaluate: []") != config.npos) == is_tuning);
  }
  CATCH_CHECK(tried == 12);
}

CATCH_TEST_CASE("tuned: the grid grows until the best lies within") {
  const TuningBench bench(kBeyond);
  CATCH_REQUIRE(bench.sweep().code == 0);
  CATCH_CHECK(bench.rates_tried() ==
              std::set<std::string>{"0.001", "0.003", "0.01", "0.03", "0.1"});
  CATCH_CHECK(bench.report("tuning").size() == 2 * 5 * 2);
  for (const auto& variant : bench.variants()) {
    CATCH_CHECK(variant.at("value") == 0.03);
    CATCH_CHECK(variant.at("at_edge") == false);
  }
  const auto order = read_file(bench.output() / "tuning" / "table.csv");
  CATCH_CHECK(order.find(",0.01,") < order.find(",0.03,"));
}

CATCH_TEST_CASE("tuned: the grid grows for those variants alone whose best lies at an edge") {
  const TuningBench bench(
      R"("lr: 0.003\n": -3, "lr: 0.01\n  final_lr_ratio: 0.5\n": -5,
         "lr: 0.03\n  final_lr_ratio: 0.5\n": -8, "lr: 0.03\n  final_lr_ratio: 0.1\n": -9)");
  CATCH_REQUIRE(
      bench
          .sweep({"model=diff", "train.final_lr_ratio=0.1,0.5", "baseline=", "claims=[]",
                  "tables=[{rows: [model, train.final_lr_ratio], columns: [valid_loss]}]"})
          .code == 0);
  std::map<std::string, std::set<std::string>> rates;
  for (const auto& run : bench.report("tuning"))
    rates[run.at("axes").at("train.final_lr_ratio")].insert(run.at("axes").at("train.lr"));
  CATCH_CHECK(rates["0.1"] == std::set<std::string>{"0.001", "0.003", "0.01"});
  CATCH_CHECK(rates["0.5"] == std::set<std::string>{"0.001", "0.003", "0.01", "0.03", "0.1"});
  CATCH_CHECK(bench.variants().at(0).at("value") == 0.003);  // −9 lies out of its sight
  CATCH_CHECK(bench.variants().at(1).at("value") == 0.03);
  CATCH_CHECK_THAT(
      read_file(bench.output() / "table.md"),
      Contains("0.001, 0.003, 0.01 (beyond, where the best lay at an edge: 0.03, 0.1)"));
}

CATCH_TEST_CASE("tuned: variants of which no value works go along where the grid grows") {
  // With 0.1 the models learn from 0.03 on; with 0.5 everywhere, soonest at 0.03.
  const TuningBench bench(
      R"("lr: 0.001\n  final_lr_ratio: 0.1\n": -5, "lr: 0.003\n  final_lr_ratio: 0.1\n": -5,
         "lr: 0.01\n  final_lr_ratio: 0.1\n": -5, "lr: 0.1\n  final_lr_ratio: 0.1\n": 7,
         "lr: 0.001\n  final_lr_ratio: 0.5\n": 7, "lr: 0.003\n  final_lr_ratio: 0.5\n": 5,
         "lr: 0.01\n  final_lr_ratio: 0.5\n": 3, "lr: 0.1\n  final_lr_ratio: 0.5\n": 9)");
  const std::vector<std::string> words{
      kLearned,
      "model=diff",
      "train.final_lr_ratio=0.1,0.5",
      "baseline=",
      "claims=[]",
      "tables=[{rows: [model, train.final_lr_ratio], columns: [valid_loss]}]"};
  CATCH_REQUIRE(bench.sweep(words).code == 0);
  for (const auto& variant : bench.variants()) {
    CATCH_CHECK(variant.at("value") == 0.03);
    CATCH_CHECK(variant.at("at_edge") == false);
  }
}

CATCH_TEST_CASE("tuned: the grid grows downwards, too, and by three values at most") {
  const TuningBench bench(
      R"("lr: 0.001\n": -1, "lr: 0.0003\n": -2, "lr: 0.0001\n": -3, "lr: 3e-05\n": -4)");
  CATCH_REQUIRE(bench.sweep().code == 0);
  CATCH_CHECK(bench.rates_tried() ==
              std::set<std::string>{"3e-05", "0.0001", "0.0003", "0.001", "0.003", "0.01"});
  for (const auto& variant : bench.variants()) CATCH_CHECK(variant.at("at_edge") == true);
  CATCH_CHECK_THAT(read_file(bench.output() / "table.md"), Contains("At the edge of the grid"));
}

CATCH_TEST_CASE("tuned: without grow the best stays at the edge, and the report says so") {
  const TuningBench bench(kBeyond);
  const Answer answer = bench.sweep({"tune.grow=false"}, 0);
  CATCH_CHECK(bench.driver.workers.ends().size() == 12 + 4);
  CATCH_CHECK_THAT(answer.out, Contains("transformer 0.01 (edge), diff 0.01 (edge)"));
}

CATCH_TEST_CASE("tuned: a variant that learns at no value is not tunable, in every table") {
  const TuningBench bench(kDiffIsLower);
  const Answer answer = bench.sweep({kLearned, "tune.grow=false"}, 0);
  CATCH_CHECK(bench.report().size() == 2);
  for (const char* table : {"table.md", "other.md"}) {
    CATCH_CHECK_THAT(read_file(bench.output() / table),
                     Contains("| diff | 0 | not tunable |") &&
                         Contains("Not tunable, as none of these values works: diff."));
  }
  CATCH_CHECK_THAT(answer.out, Contains("; not tunable: diff") &&
                                   Contains("Not measured: DIFF has a lower loss."));
}

CATCH_TEST_CASE("tuned: if no variant is tunable the sweep says so, and where its runs are") {
  const TuningBench bench(R"("lr": -5)");
  const Answer answer = bench.sweep({kLearned, "tune.grow=false"}, 2);
  CATCH_CHECK_THAT(
      answer.err,
      Contains("no variant learns at any of train.lr = 0.001, 0.003, 0.01") && Contains("/tuning"));
}

CATCH_TEST_CASE("tuned: a sweep that is killed goes on to the same values") {
  testing::check_killed(kBeyond, "", {}, {3, 13, 17, 22});
}

CATCH_TEST_CASE("tuned: a run that fails ends the sweep, and the same command goes on") {
  TuningBench bench(kInside, R"(, "exit": {"seed: 10001\n": 2})");
  const Answer answer = bench.sweep({}, 1);
  CATCH_CHECK(bench.driver.workers.ends().size() == 6);
  CATCH_CHECK_THAT(answer.err, Contains("6 of the runs failed"));
  CATCH_CHECK_FALSE(fs::exists(bench.output() / "table.md"));
  CATCH_CHECK_THAT(bench.driver.call({"plot", "tuned"}).out,
                   Contains("The runs that are reported begin when train.lr is tuned."));
  bench.set(kInside);
  CATCH_CHECK(bench.sweep().code == 0);
  CATCH_CHECK(bench.report().size() == 4);
}

CATCH_TEST_CASE("tuned: Slurm gets the tuning, and the same command submits what comes then") {
  const testing::FakeSlurm slurm;
  const TuningBench bench(kInside);
  slurm.set("execute", "");
  for (const bool first : {true, false}) {
    CATCH_CHECK_THAT(bench.sweep({"launcher=slurm"}, 0).out,
                     Contains(first ? "12 runs in" : "4 runs in"));
    const auto folder = (first ? bench.output() / "tuning" : bench.output()).string();
    CATCH_CHECK(bench.driver.call({"wait", folder, "--every=0.01"}).code == 0);
    CATCH_CHECK_THAT(bench.driver.call({"status", folder}).out,
                     Contains(first ? "./difflab sweep tuned" : "difflab plot tuned"));
  }
  CATCH_CHECK_THAT(bench.sweep({"launcher=slurm"}).out, Contains("nothing to run: all 4 runs"));
}

CATCH_TEST_CASE("tuned: the name of the experiment means the runs that are due") {
  const testing::FakeSlurm slurm;
  TuningBench bench(kInside);
  const auto watched = [&] {
    return bench.driver.call({"watch", "--once", "tuned", "launcher=slurm"}, 0).out;
  };
  CATCH_REQUIRE(bench.sweep({"launcher=slurm"}).code == 0);
  slurm.set("silence", "the fake queue is away\n");
  CATCH_CHECK_THAT(watched(), Contains("0/12 done") && Contains("the fake queue is away"));
  CATCH_CHECK(bench.sweep().code == 0);
  CATCH_CHECK_THAT(watched(), Contains("4/4 done"));
}

CATCH_TEST_CASE("tuned: the dry run shows the tuning and how many runs come then") {
  const TuningBench bench(kInside);
  CATCH_CHECK_THAT(bench.sweep({"--dry-run"}, 0).out,
                   Contains("12 runs: 12 new") &&
                       Contains("then 4 runs with the train.lr that these find") &&
                       Contains("warning: 2 seeds are too few for a verdict"));
  // Of the written rate there may be finished runs: those to come have another.
  CATCH_REQUIRE(bench.sweep({"~tune"}).code == 0);
  CATCH_CHECK_THAT(bench.sweep({"--dry-run"}).out, Contains("training: the runs then at most 0"));
  fs::remove_all(bench.driver.results());
  CATCH_CHECK(Json::parse(bench.sweep({"--dry-run", "--json"}).out).size() == 12);
  CATCH_CHECK_FALSE(fs::exists(bench.driver.results()));
}

CATCH_TEST_CASE("tuned: a report is written again from its folder alone") {
  const TuningBench bench(kDiffIsLower);
  CATCH_REQUIRE(bench.sweep({kLearned, "tune.grow=false"}).code == 0);
  fs::remove_all(bench.driver.results() / "runs");
  bench.check_rebuilt(
      {"table.md", "other.tex", "observations.json", "tuning/table.csv", "tuning/runs.json"});
}

CATCH_TEST_CASE("tuned: the figures show every variant, however many axes there are") {
  const TuningBench bench(kInside);
  const Answer answer =
      bench.sweep({"train.batch_size=8,16", "task.recall_share=0.25,0.5", "claims=[]",
                   "tables=[{name: table, rows: [model, "
                   "train.batch_size, task.recall_share], columns: "
                   "[valid_loss]}]"});
  CATCH_INFO(answer.err);
  CATCH_REQUIRE(answer.code == 0);
  std::map<std::string, std::size_t> rows;  // of a figure, its head not among them
  for (const auto& file : fs::directory_iterator(bench.output() / "tuning/figures")) {
    if (file.path().extension() == ".csv") {
      const auto text = read_file(file.path());
      rows[file.path().stem()] = std::count(text.begin(), text.end(), '\n') - 1;
    }
  }
  // Two models and two sizes of a batch at three rates in each.
  CATCH_CHECK(rows == std::map<std::string, std::size_t>{{"tuning", 12}, {"tuning_2", 12}});
}

CATCH_TEST_CASE("tuned: whoever was restored without its curve is not taken for one that learned") {
  const TuningBench bench(kInside);
  CATCH_REQUIRE(bench.sweep({kLearned}).code == 0);
  CATCH_CHECK(bench.sweep({kLearned}).code == 0);
  for (const auto& run : fs::directory_iterator(bench.driver.results() / "runs")) {
    fs::remove(RunDirectory{run.path()}.checkpoint());
    write_file_atomically(RunDirectory{run.path()}.metrics(), "");
    write_file_atomically(RunDirectory{run.path()}.provenance(),
                          R"({"restored_from": "tuned/reference"})");
  }
  CATCH_CHECK_THAT(bench.sweep({kLearned}, 2).err,
                   Contains("was restored without the lines of valid_loss, so that"));
}

CATCH_TEST_CASE("tuned: nothing is, where the command line says the value") {
  const TuningBench bench(kInside);
  for (const char* typed :
       {"train.lr=1e-3", "train={lr: 1e-3}", "train.lr=1e-3,1e-2", "++train.lr=1"}) {
    CATCH_INFO(typed);
    CATCH_CHECK_THAT(bench.sweep({typed, "--dry-run"}, 0).out,
                     Contains("note: train.lr is not tuned, as it is set (override ") &&
                         !Contains("runs with the train.lr that these find"));
  }
  CATCH_CHECK_THAT(bench.sweep({"train.weight_decay=0.2", "--dry-run"}).out,
                   Contains("runs with the train.lr that these find"));
}

CATCH_TEST_CASE("tuned: what cannot be is refused in plain words") {
  const TuningBench bench(kInside);
  const auto refusal = [&](const std::vector<std::string>& more) {
    const Answer answer = bench.sweep(more, 2);
    CATCH_CHECK_FALSE(fs::exists(bench.driver.results()));
    return answer.err;
  };
  CATCH_CHECK_THAT(refusal({"tune.values=[1e-3, 3e-3]"}),
                   Contains("has 2 values; expected at least 3"));
  CATCH_CHECK_THAT(refusal({"tune.values=[1e-3, 3e-3, 2e-3]"}),
                   Contains("has 0.002 after 0.003; expected finite numbers above 0 that grow"));
  CATCH_CHECK_THAT(refusal({"tune.values=[0, 3e-3, 1e-2]"}), Contains("above 0"));
  CATCH_CHECK_THAT(refusal({"tune.key=train.rate"}), Contains("is train.rate, which is not a key"));
  CATCH_CHECK_THAT(refusal({"tune.key=task.kind"}),
                   Contains("is task.kind, which is not a number"));
  CATCH_CHECK_THAT(refusal({"tune.key=\"\""}), Contains("and no key; expected tune.key"));
  CATCH_CHECK_THAT(refusal({"train.lr=1e-3,1e-2", "tune.seeds=1"}),
                   Contains("is train.lr, which the sweep varies, too"));
  CATCH_CHECK_THAT(refusal({"train.lr=1e-3", "tune.seeds=1"}),
                   Contains("is train.lr, and train.lr=1e-3 is given, too; expected one of them"));
  CATCH_CHECK_THAT(refusal({"train={lr: 1e-3}", "tune.seeds=1"}),
                   Contains("and train={lr: 1e-3} is given, too"));
  CATCH_CHECK_THAT(
      refusal({"tune.key=stages.0.train.lr", "stages=[{train: {steps: 60, warmup_steps: 7}}]",
               "stages[0].train.lr=1e-3"}),
      Contains("and stages[0].train.lr=1e-3 is given, too"));
  CATCH_CHECK_THAT(refusal({"tune.key=train.steps", "tune.values=[10,20,30]", "tune.steps=15"}),
                   Contains("is train.steps, which tune.steps and tune.longer set, too"));
  CATCH_CHECK_THAT(refusal({"sweep.seed=[10001, 10002]"}), Contains("and found 10001"));
  CATCH_CHECK_THAT(refusal({"tune.goal=lower"}), Contains("did you mean lowest"));
  CATCH_CHECK_THAT(refusal({"train.weight_decay=\"${train.lr}\",0.2", "tables=[]", "claims=[]"}),
                   Contains("tune.key is train.lr, to which the axis train.weight_decay refers"));
  CATCH_CHECK_THAT(refusal({"tune.steps=5"}),
                   Contains("(in a run of the tuning, with train.lr = 0.001 and train.steps = 5)"));
  CATCH_CHECK(bench.sweep({"train=short", "--dry-run"}).code == 0);        // a group's option
  const char* kStages = "stages=[{train: {steps: 60, warmup_steps: 7}}]";  // without the rate
  CATCH_CHECK(bench.sweep({"tune.key=stages.0.train.lr", kStages, "--dry-run"}).code == 0);
  CATCH_CHECK_THAT(refusal({"tune.key=stages.0.train.lr", "stages=[{train: {lr: 0.1}}]"}),
                   Contains("and stages=[{train: {lr: 0.1}}] is given, too"));
}

}  // namespace
}  // namespace difflab
