// What is typed meets the sweep of the files: maps, open choices, presets of other experiments, and
// settings of Hydra.
#include "config/composed.h"
#include "config/support.h"

namespace difflab::config {
namespace {

using studies::compose, studies::labels, studies::project, testing::Folder;

CATCH_TEST_CASE(
    "a preset of another experiment does not replace the sweep of one that builds on it") {
  const auto composed = [](const std::string& presets, const std::vector<std::string>& overrides) {
    auto files = project(
        "# @package _global_\ndefaults: [/experiment/base, _self_]\n"
        "sweep: {model: [small, large], seed: [0, 1]}\n" +
        presets);
    files.emplace_back("experiments/base.yaml",
                       "# @package _global_\nsweep: {model: [small], seed: [0, 1, 2]}\npresets:\n"
                       "  default: {sweep: {model: [small]}}\n  few: {sweep: {seed: [5]}}\n"
                       "  full: {}\n  one: {sweep: {model: [small]}}\n");
    const Folder folder(files);
    return compose(overrides);
  };
  CATCH_CHECK(composed("", {}).study.points.size() == 4);
  const std::string other_axis = "presets: {default: {sweep: {seed: [7]}}}\n";
  CATCH_CHECK(labels(composed(other_axis, {}).study) == "model=small seed=7 | model=large seed=7");
  CATCH_CHECK(composed("", {"preset=one"}).problems ==
              "experiments/base.yaml:7:24: preset one is of a file that this experiment builds on, "
              "and would replace its sweep.model; expected another preset, or "
              "presets.one.sweep.model in experiments/e.yaml");
  CATCH_CHECK(labels(composed("", {"preset=few"}).study) ==
              "model=small seed=5 | model=large seed=5");
  CATCH_CHECK(composed("", {"preset=full"}).study.points.size() == 4);
  const std::string own = "presets: {default: {sweep: {model: [large]}}}\n";
  CATCH_CHECK(labels(composed(own, {}).study) == "model=large seed=0 | model=large seed=1");
  CATCH_CHECK(composed("", {"presets.default.sweep.model=[large]"}).study.points.size() == 2);
}

CATCH_TEST_CASE("a sweep that is a list is not replaced by such a preset either") {
  auto files = project(
      "# @package _global_\ndefaults: [/experiment/base, _self_]\n"
      "sweep: [{model: [small, large]}]\n");
  files.emplace_back(
      "experiments/base.yaml",
      "# @package _global_\nsweep: {union: [{model: small}]}\n"
      "presets: {default: {sweep: {union: [{model: small}]}}, few: {sweep: {repeat: 2}},\n"
      "  map: {sweep: {model: [small]}}}\n");
  const Folder folder(files);
  CATCH_CHECK(labels(compose().study) == "model=small | model=large");
  CATCH_CHECK_THAT(compose({"preset=map"}).problems, Contains("would replace its sweep.model"));
  CATCH_CHECK(compose({"preset=few"}).problems == "");
}

CATCH_TEST_CASE("a typed map beside the parts of a sweep that is a list leaves them there") {
  const Folder folder(project("# @package _global_\nsweep: [{model: small}, {model: large}]\n"));
  CATCH_CHECK(compose({"sweep={repeat: 2}"}).study.points.size() == 4);
  CATCH_CHECK(labels(compose({"sweep={model: [large]}"}).study) == "model=large");
}

CATCH_TEST_CASE("an axis makes the choice that a file leaves open") {
  const auto composed = [](const std::string& sweep, const std::vector<std::string>& overrides) {
    auto files =
        project(concat("# @package _global_\n", "defaults: [/size: ???, _self_]\n", sweep));
    files.emplace_back("configs/size/s.yaml", "# @package model\ndepth: 1\n");
    files.emplace_back("configs/size/m.yaml", "# @package model\ndepth: 2\n");
    const Folder folder(files);
    const auto found = compose(overrides);
    return found.problems.empty() ? labels(found.study) : found.problems;
  };
  const std::string open = "experiments/e.yaml:2:19: a choice is needed: size=m | s";
  CATCH_CHECK(composed("sweep: {size: [s, m]}\n", {}) == "size=s | size=m");
  CATCH_CHECK(composed("sweep: {size: [s.yaml, m]}\n", {}) == "size=s | size=m");
  CATCH_CHECK(composed("sweep: {seed: [0]}\n", {"size=m.yaml"}) == "seed=0");
  CATCH_CHECK(composed("sweep: {seed: [0, 1]}\n", {"size=m,s"}) ==
              "seed=0 size=m | seed=0 size=s | seed=1 size=m | seed=1 size=s");
  CATCH_CHECK(composed("sweep: [{size: s}, {seed: 1, size: m}]\n", {}) ==
              "size=s seed=0 | size=m seed=1");
  CATCH_CHECK(composed("sweep: {seed: [0]}\n", {}) == open);
  CATCH_CHECK(composed("", {}) == open);
  CATCH_CHECK_THAT(composed("sweep: [{size: s}, {seed: 1}]\n", {}), Contains(open));
}

CATCH_TEST_CASE("what configures Hydra is refused with what there is instead") {
  const auto problem = [](const std::string& text, const std::vector<std::string>& overrides) {
    const Folder folder(project(concat("# @package _global_\n", text)));
    return compose(overrides).problems;
  };
  const std::string instead = "there is no hydra to configure: launcher=… spreads the runs";
  for (const auto* text :
       {"hydra/launcher=joblib", "hydra.run.dir=x", "++hydra.sweeper.n=1", "+hydra/sweeper=optuna",
        "hydra.searchpath=[x]", "hydra.launcher.n_jobs=2"}) {
    CATCH_INFO(text);
    CATCH_CHECK_THAT(problem("", {text}), Contains(instead));
  }
  CATCH_CHECK_THAT(problem("hydra: {run: {dir: x}}\n", {}), Contains("e.yaml:2:1: " + instead));
  CATCH_CHECK_THAT(problem("defaults: [override /hydra/launcher: joblib]\n", {}),
                   Contains("e.yaml:2:38: " + instead));
}

}  // namespace
}  // namespace difflab::config
