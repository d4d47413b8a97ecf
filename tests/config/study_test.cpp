#include "config/grid/study.h"

#include "config/composed.h"
#include "config/schema/reader.h"
#include "config/support.h"
#include "config/value/yaml.h"

namespace difflab::config {
namespace {

using studies::compose, studies::Composed, studies::Files, studies::labels, studies::project;
using studies::run, testing::Folder;

// What is composed, with nothing wrong.
Study study_of(const std::vector<std::string>& overrides = {}) {
  const Composed composed = compose(overrides);
  CATCH_CHECK(composed.problems == "");
  return composed.study;
}

std::int64_t steps_of(const Study& study) {
  return study.points.at(0).config.find_path("train.steps")->as_int();
}

constexpr const char* kExperiment = R"(# @package _global_
title: a question about ${vars.seeds} seeds
defaults: [{override /train: long}, _self_]
vars: {lr: {small: 1e-2, large: 3e-3}, seeds: 2}
train: {lr: "${vars.lr.${model.name}}"}
sweep:
  model: [small, large]
  seed: range(${vars.seeds})
tables: [{rows: model}]
presets:
  smoke: {train: {steps: 1}, sweep: {seed: null}}
  other: {defaults: [{override /train: short}], sweep: {seed: [7]}}
)";

CATCH_TEST_CASE("an experiment composes into one run for every point of its grid") {
  const Folder folder(project(kExperiment));
  const Study study = study_of();
  CATCH_CHECK(study.preset == "default");
  CATCH_CHECK(labels(study) ==
              "model=small seed=0 | model=small seed=1 | model=large seed=0 | model=large seed=1");
  CATCH_CHECK(run(study, 0) ==
              R"({"model":{"name":"small","width":8},)"
              R"("train":{"steps":99,"lr":0.01,"warmup":5},"seed":0,"threads":1})");
  CATCH_CHECK(run(study, 3) ==
              R"({"model":{"name":"large","width":64},)"
              R"("train":{"steps":99,"lr":0.003,"warmup":5},"seed":1,"threads":1})");
  CATCH_CHECK(to_json(study.settings).dump() ==
              R"({"title":"a question about 2 seeds","tables":[{"rows":"model"}]})");
  CATCH_CHECK(study.changes.empty());
}

CATCH_TEST_CASE("a preset changes values, group choices and axes") {
  const Folder folder(project(kExperiment));
  const Study smoke = study_of({"preset=smoke"});
  CATCH_CHECK(smoke.preset == "smoke");
  CATCH_CHECK(labels(smoke) == "model=small | model=large");
  CATCH_CHECK(steps_of(smoke) == 1);
  const Composed other = compose({"preset=other"});
  CATCH_CHECK(labels(other.study) == "model=small seed=7 | model=large seed=7");
  CATCH_CHECK(steps_of(other.study) == 10);
  CATCH_CHECK(other.study.changes.empty());
}

CATCH_TEST_CASE("a suite's preset default gives nothing to an experiment that has none") {
  const auto steps = [](const std::string& presets, const std::vector<std::string>& overrides) {
    auto files = project(
        "# @package _global_\ndefaults: [/suite: quick, _self_]\n"
        "train: {steps: 7}\nsweep: {seed: [0]}\n" +
        presets);
    files.emplace_back("configs/suite/quick.yaml",
                       "# @package _global_\ntrain: {steps: 5}\n"
                       "presets: {smoke: {train: {steps: 2}}, default: {train: {steps: 1}}}\n");
    const Folder folder(files);
    return steps_of(study_of(overrides));
  };
  CATCH_CHECK(steps("", {}) == 7);
  CATCH_CHECK(steps("", {"preset=default"}) == 7);
  CATCH_CHECK(steps("", {"preset=smoke"}) == 2);
  CATCH_CHECK(steps("", {"presets.default.train.steps=4"}) == 4);  // asked for
  CATCH_CHECK(steps("presets: {default: {}}\n", {}) == 7);         // the file's own word
  CATCH_CHECK(steps("presets: {default: {train: {steps: 3}}}\n", {}) == 3);
}

CATCH_TEST_CASE("a key of the study that refers to what the sweep varies is refused") {
  const auto problems = [](const std::string& rest) {
    const Folder folder(project("# @package _global_\nvars: {rows: {10: few, 20: many}}\n" + rest));
    return compose().problems;
  };
  const std::string tables = "tables: {name: t, rows: \"${vars.rows.${train.steps}}\"}\n";
  CATCH_CHECK(problems(tables + "sweep: {train.steps: [10, 20]}\n") ==
              "experiments/e.yaml:3:1: tables.rows refers to a key that the sweep varies: it is "
              "many for some runs, few without the sweep; expected one value for all");
  CATCH_CHECK(problems(tables + "sweep: {seed: [0, 1]}\n") == "");
  CATCH_CHECK(problems(tables + "sweep: {train.steps: [10]}\n") == "");
  CATCH_CHECK_THAT(problems("title: t ${seed}\nsweep: {seed: [0, 1]}\n"),
                   Contains("title refers to a key that the sweep varies: it is t 1"));
}

CATCH_TEST_CASE(
    "a preset that is no name of a folder is refused before anything is written there") {
  const Folder folder(
      project("presets: {../../x: {}, '..': {}, '': {}, \"a\\nb\": {}, a b: {}}\n"));
  for (const char* name : {"'../../x'", "'..'", "''", "'a\nb'"}) {
    CATCH_INFO(name);
    CATCH_CHECK_THAT(compose({concat("preset=", name)}).problems,
                     Contains("cannot name a folder of results"));
  }
  CATCH_CHECK(compose({"preset='a b'"}).problems == "");
}

CATCH_TEST_CASE("overrides of the command line come after the preset") {
  const Folder folder(project(kExperiment));
  const Study study = study_of({"preset=smoke", "train.steps=3", "train=short", "results=x"});
  CATCH_CHECK(steps_of(study) == 3);
  CATCH_CHECK_FALSE(study.points[0].config.find_path("train.warmup"));
  CATCH_CHECK(study.settings.find("results")->as_string() == "x");
  std::vector<std::string> changes;
  for (const auto& item : study.changes) changes.push_back(item.text);
  CATCH_CHECK(changes == std::vector<std::string>{"train.steps=3", "train=short", "results=x"});
}

CATCH_TEST_CASE("the command line replaces an axis, narrows it to one value or adds one") {
  const Folder folder(project(kExperiment));
  CATCH_CHECK(labels(compose({"seed=5,6", "model=large"}).study) ==
              "model=large seed=5 | model=large seed=6");
  CATCH_CHECK(labels(compose({"model=small", "seed=0", "train.steps=range(1,3)"}).study) ==
              "model=small seed=0 train.steps=1 | model=small seed=0 train.steps=2");
  CATCH_CHECK(labels(compose({"model=small", "~sweep.seed", "train=short,long"}).study) ==
              "model=small train=short | model=small train=long");
  CATCH_CHECK(labels(compose({"sweep.seed=[3]", "model=glob(l*)"}).study) == "model=large seed=3");
  CATCH_CHECK(compose({"sweep.seed=range(3)"}).problems ==
              "override sweep.seed=range(3): the values of an axis are given to it alone: "
              "seed=range(3)");
}

CATCH_TEST_CASE("what the sweep and the presets say follows values and choices that are typed") {
  auto files = project(
      "defaults: [/plan: few, _self_]\nvars: {seeds: 2}\n"
      "sweep: {model: [small], seed: 'range(${vars.seeds})'}\n");
  files.back().second = "# @package _global_\n" + files.back().second;
  files[0].second = "defaults:\n  - model: small\n  - train: short\n  - _self_\nseed: 0\n";
  files.emplace_back("configs/plan/few.yaml",
                     "# @package _global_\npresets: {quick: {train: {steps: 11}}}\n");
  files.emplace_back("configs/plan/many.yaml",
                     "# @package _global_\n"
                     "presets: {quick: {train: {steps: 12}}, long: {train: {steps: 13}}}\n");
  const Folder folder(files);
  CATCH_CHECK(labels(compose({"vars.seeds=3"}).study) ==
              "model=small seed=0 | model=small seed=1 | model=small seed=2");
  CATCH_CHECK(steps_of(study_of({"preset=quick"})) == 11);
  CATCH_CHECK(steps_of(study_of({"plan=many", "preset=quick"})) == 12);
  CATCH_CHECK(steps_of(study_of({"plan=many", "preset=long"})) == 13);
}

CATCH_TEST_CASE("a preset may set a key beside the parts of a sweep that is a list") {
  const Folder folder(
      project("sweep: [{model: small, seed: range(2)}, {model: large}]\n"
              "presets:\n  few: {sweep: {where: seed == 0}}\n  other: {sweep: [{seed: [5]}]}\n"));
  CATCH_CHECK(labels(study_of({"preset=few"})) == "model=small seed=0 | model=large seed=0");
  CATCH_CHECK(labels(compose({"preset=other"}).study) == "seed=5");
}

CATCH_TEST_CASE(
    "other seeds leave the parts of a sweep that is a list, or say that these have some") {
  const char* preset = "presets:\n  few: {sweep: {seed: [7]}}\n";
  const Folder folder(project(concat("sweep: [{model: small}, {model: large}]\n", preset)));
  CATCH_CHECK(labels(compose({"preset=few"}).study) == "model=small seed=7 | model=large seed=7");
  const Folder own(project(concat("sweep: [{model: small, seed: [1]}, {model: large}]\n", preset)));
  CATCH_CHECK_THAT(compose({"preset=few"}).problems, Contains("sweep has seed twice"));
  CATCH_CHECK_THAT(compose({"sweep={seed: [7]}"}).problems, Contains("sweep has seed twice"));
}

CATCH_TEST_CASE("a sweep refers to vars in its union, in what it excludes and in conditions") {
  const auto of = [](const std::string& sweep) {
    const Folder folder(
        project("vars: {parts: [{model: small}, {model: large}], last: 1, name: large,"
                " of: '${vars.last}'}\nsweep: " +
                sweep));
    const auto composed = compose();
    return composed.problems.empty() ? labels(composed.study) : composed.problems;
  };
  CATCH_CHECK(of("{union: '${vars.parts}', seed: range(2)}\n") ==
              "model=small seed=0 | model=small seed=1 | model=large seed=0 | model=large seed=1");
  CATCH_CHECK_THAT(of("{union: '${vars}'}\n"), Contains("expected a list of sweeps"));
  CATCH_CHECK(of("{model: [small, large], seed: range(2), exclude: [{model: '${vars.name}', "
                 "seed: '${vars.last}'}]}\n") ==
              "model=small seed=0 | model=small seed=1 | model=large seed=0");
  CATCH_CHECK(of("{union: [{seed: range(3), exclude: {seed: ['${vars.last}', 2]}}]}\n") ==
              "seed=0");
  CATCH_CHECK(of("{seed: range(3), where: seed <= vars.last}\n") == "seed=0 | seed=1");
  CATCH_CHECK(of("{seed: range(3), where: 'seed < ${vars.of}'}\n") == "seed=0");
  CATCH_CHECK_THAT(of("{seed: range(3), where: seed < vars.lats}\n"),
                   Contains("there is no key vars.lats"));
  CATCH_CHECK_THAT(of("{seed: range(3), where: 'seed < ${vars.of'}\n"),
                   Contains("a ${ has no closing }"));
}

CATCH_TEST_CASE("exclude takes expressions that mean one option") {
  const Folder folder(project("sweep: {model: [small, large], exclude: {model: glob(sm*)}}\n"));
  CATCH_CHECK(labels(study_of()) == "model=large");
}

CATCH_TEST_CASE("an experiment that another one builds on is about the whole configuration") {
  auto files = project("defaults: [/experiment/base, _self_]\nsweep: {seed: range(2)}\n");
  files.emplace_back("experiments/base.yaml",
                     "train: {steps: 7}\nsweep: {model: [small, large]}\n");
  const Folder folder(files);
  const Study study = study_of();
  CATCH_REQUIRE(study.points.size() == 4);
  CATCH_CHECK(steps_of(study) == 7);
}

CATCH_TEST_CASE("a choice that nothing makes is told with what may be meant") {
  const Folder folder(project("defaults: [{override model: large}, _self_]\n"));
  CATCH_CHECK_THAT(compose().problems, Contains("did you mean /model?"));
  const Folder other(project("defaults: [{override /modle: large}, _self_]\n"));
  CATCH_CHECK_THAT(compose().problems, Contains("did you mean model?"));
}

CATCH_TEST_CASE("what an override makes on its way is told with the override") {
  const Folder folder(project("sweep: {seed: range(2)}\n"));
  CATCH_CHECK_THAT(compose({"sweep.train.lr=[0.1,0.2]"}).problems,
                   Contains("override sweep.train.lr=[0.1,0.2]: "));
}

CATCH_TEST_CASE("a preset with axes that the parts of such a sweep have takes its place") {
  const Folder folder(
      project("sweep: [{model: small, seed: range(2)}, {model: large}]\n"
              "presets:\n  one: {sweep: {model: [large], seed: [7]}}\n"));
  CATCH_CHECK(labels(compose({"preset=one"}).study) == "model=large seed=7");
}

CATCH_TEST_CASE("a key below a bare kind leaves the kind") {
  const Folder folder(
      project("train: {optimizer: muon}\nsweep: {train.optimizer.momentum: [0.8, 0.9]}\n"));
  CATCH_CHECK(run(compose().study, 1).find(R"("optimizer":{"kind":"muon","momentum":0.9})") !=
              std::string::npos);
  CATCH_CHECK(run(compose({"train.optimizer.nesterov=false"}).study, 0)
                  .find(R"("optimizer":{"kind":"muon","nesterov":false,"momentum":0.8})") !=
              std::string::npos);
}

CATCH_TEST_CASE("a key below a reference changes what it refers to") {
  const Folder folder(
      project("vars: {o: {kind: muon, momentum: 0.5, nesterov: true}}\n"
              "train: {optimizer: '${vars.o}'}\nsweep: {train.optimizer.momentum: [0.8]}\n"));
  CATCH_CHECK(run(compose().study, 0)
                  .find(R"("optimizer":{"kind":"muon","momentum":0.8,"nesterov":true})") !=
              std::string::npos);
}

CATCH_TEST_CASE("an experiment without a sweep is one run") {
  const Folder folder(project("title: x\n"));
  const Study study = study_of();
  CATCH_CHECK(study.points.size() == 1);
  CATCH_CHECK(study.points[0].axes.empty());
}

CATCH_TEST_CASE("keys that only the schema knows can be set") {
  const Folder folder(project("train: {warmup: 3}\n"));
  CATCH_CHECK(study_of({"model.depth=4"}).points[0].config.find_path("model.depth")->as_int() == 4);
}

CATCH_TEST_CASE("lists and maps on an axis are labelled as JSON") {
  const Folder folder(project("sweep: {model.x: [[1, 2], {a: 1}, schedule]}\n"));
  CATCH_CHECK(labels(study_of()) == R"(model.x=[1,2] | model.x={"a":1} | model.x=schedule)");
}

CATCH_TEST_CASE("an axis value with an interpolation is resolved in its run") {
  const Folder folder(project("sweep: {model: [small, large], seed: ['${model.width}']}\n"));
  CATCH_CHECK(labels(compose().study) == "model=small seed=8 | model=large seed=64");
}

CATCH_TEST_CASE("everything wrong with a study is reported at once, with its place") {
  const Folder folder(
      project("titel: x\n"
              "sweep:\n"
              "  model: [small, lrage]\n"
              "  sede: [0]\n"
              "  seed: [1, 1]\n"
              "  title: [a]\n"
              "train: {lr: '${vars.x}'}\n"));
  const Composed composed =
      compose({"preset=smok", "trian.steps=1", "a=[1", "~model.depth", "train=lnog"});
  CATCH_CHECK(composed.problems ==
              "override 'a=[1': expected , or ] here\n"
              "  a=[1\n"
              "      ^\n"
              "override preset=smok: there is no preset smok; this experiment has none\n"
              "override train=lnog: config group train has no option lnog; did you mean long?\n"
              "override ~model.depth: there is no key model.depth; expected one of name, width\n"
              "experiments/e.yaml:1:1: unknown key titel; did you mean title?\n"
              "override trian.steps=1: unknown key trian; did you mean train?\n"
              "experiments/e.yaml:3:18: config group model has no option lrage; did you mean "
              "large?\n"
              "experiments/e.yaml:4:3: unknown key sede; did you mean seed?\n"
              "experiments/e.yaml:5:13: sweep.seed has 1 twice\n"
              "experiments/e.yaml:6:3: sweep.title: title belongs to the study, not to a run; it "
              "cannot be swept over\n"
              "experiments/e.yaml:7:13: train.lr refers to ${vars.x}, but the configuration has "
              "no key vars; expected one of model, seed, threads, titel, sweep, train, trian, "
              "preset, sede, title");
}

CATCH_TEST_CASE("a missing or malformed file is named with its place") {
  {
    const Folder folder(project("a: [1\n"));
    CATCH_CHECK(compose().problems == "experiments/e.yaml:2:1: end of sequence flow not found");
  }
  {
    Files files = project("");
    files.back().first = "experiments/f.yaml";
    const Folder folder(files);
    CATCH_CHECK(compose().problems == "there is no experiment e; did you mean f?");
  }
  {
    Files files = project("defaults: [{override /model: large}]\n");
    files.emplace_back("configs/model/large.yaml", "a: 1\na: 2\n");
    const Folder folder(files);
    CATCH_CHECK(compose().problems ==
                "configs/model/large.yaml:2:1: key a appears twice; it is already at "
                "configs/model/large.yaml:1:1");
  }
  {
    const Folder folder(project("[a, b]\n"));
    CATCH_CHECK(compose().problems ==
                "experiments/e.yaml:1:1: the file holds a list; expected a map of keys");
  }
}

struct Model {
  std::string name;
  std::int64_t width = 1;
  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("name", name, "label");
    visit("width", width, "channels", at_least(1));
  }
};

struct Train {
  std::int64_t steps = 1;
  double lr = 1;
  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("steps", steps, "steps", at_least(1));
    visit("lr", lr, "learning rate", between(0, 1));
  }
};

struct Run {
  Model model;
  Train train;
  std::int64_t seed = 0;
  std::int64_t threads = 1;
  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("model", model, "model");
    visit("train", train, "training");
    visit("seed", seed, "seed");
    visit("threads", threads, "threads");
  }
};

CATCH_TEST_CASE("a wrong axis value is reported where the axis gives it") {
  const Folder folder(project("sweep:\n  train.lr: [0.1, 2, x]\n  seed: range(100)\n"));
  Problems problems;
  const Composed composed = compose({"train.stesp=3"});
  for (const Point& point : composed.study.points) read<Run>(point.config, "", problems);
  CATCH_CHECK(problems.text() ==
              "override train.stesp=3: unknown key train.stesp; did you mean steps?\n"
              "experiments/e.yaml:2:19: train.lr is 2; expected a number from 0 to 1\n"
              "experiments/e.yaml:2:22: train.lr is 'x'; expected a number from 0 to 1");
}

CATCH_TEST_CASE("a thousand runs are composed and read") {
  const Folder folder(
      project("vars: {lr: {small: 1e-2, large: 3e-3}}\ntrain: {lr: '${vars.lr.${model.name}}'}\n"
              "sweep: {model: [small, large], train.steps: 'range(1,51)', seed: range(10)}\n"));
  Problems problems;
  const Composed composed = compose();
  std::int64_t steps = 0;
  for (const Point& point : composed.study.points) {
    steps += read<Run>(point.config, "", problems).train.steps;
  }
  CATCH_CHECK(problems.text() + composed.problems == "");
  CATCH_CHECK(composed.study.points.size() == 1000);
  CATCH_CHECK(steps == 2 * 10 * (50 * 51 / 2));
}

}  // namespace
}  // namespace difflab::config
