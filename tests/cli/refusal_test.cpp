// What a user gets wrong: a clear message, exit code 2, and nothing written.
#include "cli/driver.h"

namespace difflab {
namespace {

using Catch::EndsWith;
using testing::Answer, testing::Driver;

struct Mistake {
  std::vector<std::string> overrides;
  std::string expected;
};

CATCH_TEST_CASE("a wrong override is refused with what was expected, and nothing is written") {
  const Driver driver;
  const std::vector<Mistake> mistakes = {
      {{"train.stepz=20"}, "unknown key train.stepz; did you mean steps?"},
      {{"trian.steps=20"}, "unknown key trian; did you mean train?"},
      {{"train.steps=many"}, "expected a whole number"},
      {{"train.steps=-1"}, "expected a whole number of at least 0"},
      {{"model=difff"}, "has no option difff; did you mean diff?"},
      {{"preset=smok"}, "there is no preset smok; "},
      {{"task.needle.queries=9"}, "expected at most needles, 4"},
      {{"task.needle.length=9"}, "too short for 4 needles and 1 queries"},
      {{"model.attention.heads=3"}, "expected d_model to be a multiple of"},
      {{"train.optimizer=moun"}, "did you mean muon?"},
      {{"train.optimizer.kind=sdg"}, "did you mean sgd?"},
      {{"train.groups=[{match: '*.lamda_*', lr_scale: 0.1}]"},
       "train.groups: match *.lamda_* matches no parameter; expected one of layers.*.attn."},
      {{"train.groups=[{match: norm.weigth, lr_scale: 0.1}]"}, "did you mean norm.weight?"},
      {{"train.groups=[{match: '*.lambda_*', lr_scale: 0.1}, {match: '*.lambda_*', shapes: "
        "matrices, "
        "lr_scale: 2}]",
        "model=diff", "baseline=diff"},
       "match *.lambda_* with its shapes matches no parameter"},
      {{"train.beta2=1"}, "train.beta2 is 1, which keeps the moment at 0; expected less"},
      {{"train.optimizer={kind: muon, momentum: 1}"}, "the gradient's mean stays 0"},
      {{"train.batch_size=1"},
       "task.recall_share is 0.5, which is all of the 1 sequence of a batch; expected 1, or a "
       "larger "
       "train.batch_size"},
      {{"task.recall_share=0.01", "stages=[{task: {recall_share: 0.5}}]"},
       "task.recall_share is 0.01, which is none of the "},
      {{"stages=[{train: {batch_size: 1}}]"}, "stages[0].task.recall_share is 0.5, which is all"},
      {{"task=associative_needle", "task.recall_share=0.5", "train.batch_size=2"},
       "task.bare_share is 0.25, none of the 1 sequence that a batch has beside repetition"},
      {{"task=context_qa", "task.recall_share=0.5", "train.batch_size=2"},
       "task.summary_share is 0.5, all of the 1 sequence that a batch has beside repetition"},
      {{"model=diff", "baseline=diff", "model.attention.lambda_std=0"},
       "model.attention.lambda_std is 0, from where the products"},
      {{"stages=[{train: {events: [{name: x, metric: nonsense, at_least: 1}]}}]"},
       "stages[0].train.events[0].metric is nonsense"},
      {{"init_from.path=weights.safetensors", "evaluate=[{kind: initial_gradients}]"},
       "evaluate[0].kind is initial_gradients with init_from"},
      {{"train.groups=[{match: '*.lambda_*'}]"},
       "with nothing to change; expected lr_scale, lr or"},
      {{"train.events=[{name: found, at_least: 0.9}]", "train.event_every=6000",
        "train.steps=9000"},
       "train.event_every is 6000, so that found cannot be met 2 times in a row in 9000 steps; "
       "expected at most 4500"},
      {{"baseline=transfomer"},
       "baseline is transfomer, which is not a value of model; did you mean transformer?"},
      {{"sweep={seed: range(3)}"},
       "sweep has a sweep inside [ ] or { }; put the sweep in quotes to pass it on as a text, or "
       "give it to its key: sweep.KEY=…"},
      {{"-m", "model=diff,transformer"}, "-m is not needed: several values"},
      {{"model=transformer", "model.attention.lambda_init=0.5"},
       "unknown key model.attention.lambda_init of softmax; expected one of"},
      {{"preset=default,smoke"}, "preset=default,smoke: expected the name of one preset"},
      {{"~preset"}, "expected the name of one preset"},
      {{"~model"},
       "model is swept over; to leave the axis out write ~sweep.model, for one value model=VALUE"},
      {{"~seed"}, "seed is swept over; to leave the axis out write ~sweep.seed"},
      {{"+train.lr=0.5", "train.lr=1e-3,1e-2", "tables=[]"},
       "train.lr is swept over; for one value write train.lr=VALUE"},
      {{"launcher=local,slurm"}, "belongs to the study, not to a run; it cannot be swept over"},
      {{"train={lr: 0.5}", "train.lr=1e-3,1e-2", "tables=[]"},
       "train={lr: 0.5} has no effect on train.lr, which is swept over; for one value write "
       "train.lr=VALUE"},
      {{"evaluate.0.samples=8", "evaluate[0].samples=16,32", "tables=[]"},
       "evaluate.0.samples=8 has no effect on evaluate[0].samples, which is swept over"},
      {{"launcher.kind=slrum"}, "did you mean slurm?"},
      {{"train.steps"}, "expected = and a value here"},
      {{"launcher.memory_mb=1", "kernels=plain"}, "seed=0: train.batch_size asks for training"},
  };
  for (const auto& [overrides, expected] : mistakes) {
    std::vector<std::string> arguments = {"sweep", "tiny"};
    arguments.insert(arguments.end(), overrides.begin(), overrides.end());
    CATCH_INFO(overrides[0]);
    CATCH_CHECK_THAT(driver.call(arguments, 2).err, Contains(expected));
    CATCH_CHECK_FALSE(fs::exists(driver.results()));
  }
}

CATCH_TEST_CASE("an option that a command does not have is told with the nearest that it has") {
  const Driver driver;
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"needle", "x", "--length", "64"}, "no option --length of needle; did you mean --lengths?"},
      {{"sweep", "tiny", "--dryrun"}, "no option --dryrun of sweep; did you mean --dry-run?"},
      {{"evaluate", "x", "--result=y"}, "no option --result of evaluate; did you mean --results?"},
      {{"plot", "tiny", "--form", "y"}, "no option --form of plot; did you mean --from?"}};
  for (const auto& [words, expected] : mistakes) {
    CATCH_CHECK_THAT(driver.call(words, 2).err, Contains(expected));
  }
}

CATCH_TEST_CASE("a dry run refuses what there is no memory for, too") {
  const Driver driver;
  const Answer answer =
      driver.call({"sweep", "tiny", "launcher.memory_mb=1", "kernels=plain", "--dry-run"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("train.batch_size asks for training"));
}

CATCH_TEST_CASE("an override of a swept key replaces its axis, however it is written") {
  const Driver driver;
  for (const char* text : {"seed=7", "++seed=7"}) {
    CATCH_INFO(text);
    CATCH_CHECK_THAT(driver.call({"sweep", "tiny", text, "--dry-run"}, 0).out,
                     Contains("2 runs: 2 new"));
  }
  // What lies beside an axis is nobody's but one's own; an option is chosen before axes are set.
  const std::vector<std::vector<std::string>> beside = {
      {"train.lr=1e-3,1e-2", "train={eval_every: 5}"}, {"train.lr=1e-3,1e-2", "train=short"}};
  for (const auto& words : beside) {
    std::vector<std::string> arguments{"sweep", "tiny", "tables=[]", "--dry-run"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    CATCH_INFO(words[1]);
    driver.call(arguments, 0);
  }
}

CATCH_TEST_CASE("an axis and a label with dots in their names are reached by an override") {
  const Driver driver;
  driver.write("experiments/dotted.yaml",
               "# @package _global_\ntitle: Dots\nquestion: Which?\nbaseline: diff\n"
               "sweep: {model: [diff], train.lr: [1e-3, 1e-2], seed: range(2)}\n"
               "labels: {train.lr: rate}\npresets: {default: {}}\n");
  const auto count = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"sweep", "dotted", "--dry-run"});
    return driver.call(words, 0).out;
  };
  CATCH_CHECK_THAT(count({}), Contains("4 runs: 4 new"));
  CATCH_CHECK_THAT(count({"~sweep.train.lr"}), Contains("2 runs: 2 new"));
  CATCH_CHECK_THAT(count({"~sweep.train.lr", "train.lr=0.5"}), Contains("2 runs: 2 new"));
  CATCH_CHECK_THAT(count({"sweep.train.lr=[1e-3,2e-3,4e-3]"}), Contains("6 runs: 6 new"));
  CATCH_CHECK_THAT(driver.call({"config", "dotted", "labels.train.lr=pace"}).out,
                   Contains("train.lr: pace"));
  driver.call({"sweep", "dotted", "~sweep.train.rl", "--dry-run"}, 2);
  // Beside a key that is the beginning of it, and in a list.
  driver.write("experiments/dotted.yaml",
               "# @package _global_\ntitle: Dots\nquestion: Which?\nbaseline: diff\n"
               "sweep: {union: [{model: [diff, diff_v2], model.layers: [1, 2]}], seed: range(2)}\n"
               "labels: {model: kind, model.layers: depth}\npresets: {default: {}}\n");
  CATCH_CHECK_THAT(count({}), Contains("8 runs: 8 new"));
  CATCH_CHECK_THAT(count({"sweep.union[0].model.layers=[1,2,3]"}), Contains("12 runs: 12 new"));
  CATCH_CHECK_THAT(count({"~sweep.union[0].model.layers"}), Contains("4 runs: 4 new"));
  CATCH_CHECK_THAT(driver.call({"config", "dotted", "labels.model.layers=height"}).out,
                   Contains("model.layers: height") && Contains("model: kind"));
}

CATCH_TEST_CASE("an empty name is no experiment") {
  const Driver driver;
  for (const char* name : {"", "tiny,", ",tiny"}) {
    CATCH_CHECK_THAT(driver.call({"sweep", name, "--dry-run"}, 2).err,
                     Contains("has an empty name; expected an experiment"));
  }
}

CATCH_TEST_CASE("all problems of an experiment are told at once, with file, line and column") {
  const Driver driver;
  driver.write("experiments/mine.yaml",
               "# @package _global_\n"
               "train: {steps: -5, lr: fast}\n"
               "sweep: {seed: range(2)}\n"
               "tables:\n"
               "  - rows: modle\n"
               "    columns: [valid_loss]\n"
               "tabless: []\n");
  const Answer answer = driver.call({"sweep", "mine"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("mine.yaml:2:16: train.steps is -5"));
  CATCH_CHECK_THAT(answer.err, Contains("mine.yaml:2:24: train.lr is "));
  CATCH_CHECK_THAT(answer.err, Contains("mine.yaml:7:1: ") && Contains("did you mean tables?"));
  CATCH_CHECK_FALSE(fs::exists(driver.results()));
}

CATCH_TEST_CASE(
    "a text that cannot be read is told of its path, one that is too short of the length") {
  const Driver driver;
  const auto refusal = [&](const std::string& text) {
    driver.write("own.txt", text);
    const auto path = "task.file.path=" + (driver.project() / "own.txt").string();
    return driver.call({"sweep", "tiny", "task=text", path, "--dry-run"}, 2).err;
  };
  CATCH_CHECK_THAT(refusal("abc\xFF"),
                   Contains("task.file.path ") && Contains("UTF-8") && !Contains("task.length"));
  CATCH_CHECK_THAT(refusal("abc"), Contains("task.length ") && !Contains("task.file.path "));
}

CATCH_TEST_CASE("malformed YAML is refused with file, line and column") {
  const Driver driver;
  driver.write("experiments/broken.yaml", "# @package _global_\nsweep: {seed: [0, 1}\n");
  CATCH_CHECK_THAT(driver.call({"sweep", "broken"}, 2).err, Contains("broken.yaml:2:"));
  fs::create_directories(driver.project() / "experiments" / "folder.yaml");
  CATCH_CHECK(driver.call({"sweep", "folder"}).code == 2);
  CATCH_CHECK_FALSE(fs::exists(driver.results()));
}

CATCH_TEST_CASE("an unknown experiment is answered with the nearest one, and with the list") {
  const Driver driver;
  driver.write("experiments/other.yaml", "title: Another\n");
  Answer answer = driver.call({"sweep", "tyni"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("did you mean tiny?"));
  answer = driver.call({"plot", "nothing_like_it"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("other") && Contains("tiny"));
  answer = driver.call({"sweep", "preset=more", "tiny"}, 2);
  CATCH_CHECK_THAT(answer.err, Contains("'preset=more' is an override, not an experiment"));
  for (const char* word : {"+experiment=tiny", "experiment=tiny", "++experiment=tiny"}) {
    CATCH_CHECK_THAT(driver.call({"sweep", word}).err, Contains("expected difflab sweep tiny\n"));
  }
  CATCH_CHECK_THAT(driver.call({"sweep", "tiny.yaml"}).err, Contains("did you mean tiny?"));
  // What is asked is named as it was typed, whatever the experiment asks anyway.
  for (const char* asked : {"evaluate=[{kind: heldout, sample: 3}]", "evaluate={kind: heldout}"}) {
    CATCH_CHECK_THAT(driver.call({"evaluate", "tiny", asked}).err,
                     Contains("evaluate[0].sample of heldout") || Contains("expected a list"));
  }
}

CATCH_TEST_CASE("a results folder that cannot be written is refused before any run") {
  const Driver driver;
  driver.write("in_the_way", "a file");
  for (const std::string& folder :
       {(driver.project() / "in_the_way").string(), std::string("/proc/difflab")}) {
    CATCH_CHECK_THAT(driver.call({"sweep", "tiny", "results=" + folder}, 2).err, Contains(folder));
  }
  CATCH_CHECK(driver.workers.starts().empty());
}

CATCH_TEST_CASE("a missing worker program is named with how to get it") {
  const Driver driver;
  ::setenv("DIFFLAB_WORKER", "/no/such/worker", 1);
  const Answer answer = driver.sweep(2);
  ::setenv("DIFFLAB_WORKER", testing::FakeWorkers::program().c_str(), 1);
  CATCH_CHECK_THAT(answer.err, Contains("there is no worker program /no/such/worker"));
  CATCH_CHECK_FALSE(fs::exists(driver.results()));
}

}  // namespace
}  // namespace difflab
