// What an experiment's own file says, beside what suites, presets and options of groups say.
#include "config/composed.h"
#include "config/support.h"

namespace difflab::config {
namespace {

using studies::compose, studies::Composed, studies::labels, studies::project, studies::run;
using testing::Folder;

// An experiment that builds on a suite with a preset.
Composed of_suite(const std::string& own, const std::string& preset,
                  const std::vector<std::string>& overrides = {}) {
  auto files = project("# @package _global_\ndefaults: [/suite: s, _self_]\n" + own);
  files.emplace_back("configs/suite/s.yaml",
                     "# @package _global_\nvars: {lr: 0.5}\npresets: " + preset + "\n");
  const Folder folder(files);
  auto composed = compose(overrides);
  CATCH_CHECK(composed.problems == "");
  return composed;
}

CATCH_TEST_CASE("what the own file says stands against the preset default of a suite") {
  struct Case {
    const char *own, *preset, *runs, *first;
  };
  const char* kDefault = "presets: {default: {}}\n";
  const Case kCases[] = {
      // a value, one by reference, one below another key
      {"train: {lr: 3.0}\n", "{default: {train: {lr: 1.0}}}", "", R"("lr":3.0)"},
      {"vars: {lr: 7.0}\ntrain: {lr: \"${vars.lr}\"}\n",
       "{default: {train: {lr: 1.0}, vars: {lr: 2.0}}}", "", R"("lr":7.0)"},
      {"train: {a: {b: {c: 3}}}\n", "{default: {train: {a: {b: {c: 1, d: 2}}}}}", "",
       R"("a":{"b":{"c":3,"d":2}})"},
      // lists, and what is a list here and a map there
      {"train: {a: [1, 2]}\n", "{default: {train: {a: [5]}}}", "", R"("a":[1,2])"},
      {"train: {a: [1, 2]}\n", "{default: {train: {a: {b: 5}}}}", "", R"("a":[1,2])"},
      {"train: {optimizer: muon}\n", "{default: {train: {optimizer: {kind: sgd, momentum: 1}}}}",
       "", R"("optimizer":"muon")"},
      // axes
      {"sweep: {seed: [1, 2]}\n", "{default: {sweep: {seed: [9]}}}", "seed=1 | seed=2", ""},
      {"sweep: {seed: [1, 2]}\n", "{default: {sweep: {repeat: 1}}}", "seed=1 | seed=2", ""},
      {"sweep: [{seed: [1]}, {seed: [2]}]\n", "{default: {sweep: {seed: [9]}}}", "seed=1 | seed=2",
       ""},
      {"sweep: {seed: [1, 2]}\n", "{default: {sweep: {union: [{seed: [9]}]}}}", "seed=1 | seed=2",
       ""},
      {"train: {lr: 3.0}\n", "{default: {sweep: {train.lr: [1.0, 2.0]}}}", "", R"("lr":3.0)"},
      {"sweep: {train.lr: [3.0]}\n", "{default: {train: {lr: 1.0}}}", "train.lr=3.0",
       R"("lr":3.0)"},
      // what it does not say is the preset's
      {"train: {lr: 3.0}\n", "{default: {train: {steps: 77}, sweep: {seed: [4]}}}", "seed=4",
       R"("steps":77,"lr":3.0)"},
  };
  for (const auto& [own, preset, runs, first] : kCases) {
    CATCH_INFO(own << preset);
    for (const auto& overrides : {std::vector<std::string>{}, {"preset=default"}}) {
      const auto composed = of_suite(concat(own, kDefault), preset, overrides);
      CATCH_REQUIRE(!composed.study.points.empty());
      CATCH_CHECK(labels(composed.study) == runs);
      CATCH_CHECK_THAT(run(composed.study, 0), Contains(first));
      CATCH_CHECK(composed.study.notes.empty());
    }
  }
  const auto chosen = of_suite("train: {lr: 3.0}\npresets: {default: {train: {lr: 4.0}}}\n",
                               "{default: {train: {lr: 1.0}}}");
  CATCH_CHECK_THAT(run(chosen.study, 0), Contains(R"("lr":4.0)"));
}

CATCH_TEST_CASE("a choice of the own file stands against an axis of a suite's preset") {
  auto files = project(
      "# @package _global_\ndefaults: [{/suite: s}, {override /model: large}, _self_]\n"
      "presets: {default: {}}\n");
  files.emplace_back("configs/suite/s.yaml",
                     "# @package _global_\npresets: {default: {sweep: {model: [small]}}}\n");
  const Folder folder(files);
  CATCH_CHECK_THAT(run(compose().study, 0), Contains("large"));
}

CATCH_TEST_CASE("a preset that is asked for says which values of the own file it changes") {
  const auto notes = [](const std::string& own, const std::string& preset) {
    return of_suite(own, "{quick: " + preset + "}", {"preset=quick"}).study.notes;
  };
  CATCH_CHECK(notes("train: {lr: 3.0, steps: 8}\n", "{train: {lr: 1.0, steps: 8, warmup: 1}}") ==
              std::vector<std::string>{"preset quick sets train.lr to 1.0 "
                                       "(configs/suite/s.yaml:3:31); experiments/e.yaml has 3.0"});
  CATCH_CHECK(notes("sweep: {seed: [1, 2]}\n", "{sweep: {seed: [9]}}").size() == 1);
  CATCH_CHECK_THAT(notes("train: {a: [1, 2]}\n", "{train: {a: []}}").at(0),
                   Contains("train.a to []") && Contains("has [1,2]"));
  CATCH_CHECK(notes("train: {lr: 3.0}\n", "{train: {warmup: 1}}").empty());
  CATCH_CHECK(notes("train: {lr: 3.0}\npresets: {quick: {train: {lr: 2.0}}}\n",
                    "{train: {lr: 1.0}}")
                  .empty());  // its own preset says it
}

CATCH_TEST_CASE("a value of the own file that another file sweeps over is refused") {
  const auto problems = [](const std::string& own) {
    auto files = project("# @package _global_\ndefaults: [/experiment/base, _self_]\n" + own);
    files.emplace_back("experiments/base.yaml",
                       "sweep: {model: [small, large], train.lr: [0.1, 0.2]}\n");
    const Folder folder(files);
    return compose().problems;
  };
  CATCH_CHECK(problems("train: {lr: 3.0}\n") ==
              "experiments/e.yaml:3:13: train.lr has no effect, as experiments/base.yaml sweeps "
              "over it; for one value write sweep: {train.lr: 3.0}, to leave the axis out sweep: "
              "{train.lr: null}");
  CATCH_CHECK(problems("train: {lr: 3.0}\nsweep: {train.lr: null}\n") == "");
  CATCH_CHECK(problems("sweep: {train.lr: 3.0}\n") == "");
  CATCH_CHECK(problems("train: {steps: 3}\n") == "");
}

CATCH_TEST_CASE("study keys in options of a group that is swept over are refused") {
  const auto problems = [](const std::string& a, const std::string& b,
                           const std::vector<std::string>& overrides = {}) {
    auto files = project("# @package _global_\nsweep: {+lam: [a, b]}\n");
    files.back().second =
        "# @package _global_\ndefaults: [/lam: a, _self_]\nsweep: {lam: [a, b]}\n";
    files.emplace_back("configs/lam/a.yaml", "# @package _global_\n" + a);
    files.emplace_back("configs/lam/b.yaml", "# @package _global_\n" + b);
    const Folder folder(files);
    return compose(overrides).problems;
  };
  const std::string rest =
      " differs between the options that are swept over, and belongs to the study, not to a run; "
      "expected it in the experiment's file";
  CATCH_CHECK(problems("train: {lr: 1.0}\n", "train: {lr: 2.0}\n") == "");
  CATCH_CHECK(problems("sweep: {seed: [1]}\n", "sweep: {seed: [2]}\n") ==
              "configs/lam/b.yaml:2:8: sweep" + rest);
  CATCH_CHECK(problems("", "tables: [{rows: lam}]\n") == "configs/lam/b.yaml:2:9: tables" + rest);
  CATCH_CHECK(problems("title: one\n", "title: two\n") == "configs/lam/b.yaml:2:8: title" + rest);
  CATCH_CHECK(problems("title: one\n", "") == "configs/lam/a.yaml:2:8: title" + rest);
  CATCH_CHECK(problems("presets: {x: {}}\n", "") == "configs/lam/a.yaml:2:10: presets" + rest);
  CATCH_CHECK(problems("title: one\n", "title: one\n") == "");  // of all runs
}

CATCH_TEST_CASE("a var is an axis that a run's keys refer to") {
  const auto of = [](const std::string& sweep, std::vector<std::string> words = {}) {
    const Folder folder(
        project("vars: {width: 1, seeds: {1: {small: 10, large: 20}, 2: {small: 30, large: 40}}}\n"
                "seed: '${vars.seeds.${vars.width}.${model.name}}'\nsweep: " +
                sweep));
    const auto composed = compose(std::move(words));
    if (!composed.problems.empty()) return composed.problems;
    std::string seeds;
    for (const auto& point : composed.study.points) {
      seeds += point.config.find("seed")->as_string() + ' ';
    }
    return concat(labels(composed.study), ": ", seeds);
  };
  const std::string all =
      "vars.width=1 model=small | vars.width=1 model=large | vars.width=2 model=small | "
      "vars.width=2 model=large: 10 20 30 40 ";
  CATCH_CHECK(of("{vars.width: [1, 2], model: [small, large]}\n") == all);
  CATCH_CHECK(of("{model: [small, large]}\n", {"vars.width=2,1"}) ==
              "model=small vars.width=2 | model=small vars.width=1 | model=large vars.width=2 | "
              "model=large vars.width=1: 30 10 40 20 ");
  CATCH_CHECK(of("{vars.width: [1, 2], model: [small, large]}\n", {"vars.width=2"}) ==
              "vars.width=2 model=small | vars.width=2 model=large: 30 40 ");
  CATCH_CHECK(of("{vars.width: [1, 2], model: small, exclude: {vars.width: 1}}\n") ==
              "vars.width=2 model=small: 30 ");
  CATCH_CHECK_THAT(of("{vars.width: [1, 3], model: small}\n"), Contains("has no key 3"));
}

}  // namespace
}  // namespace difflab::config
