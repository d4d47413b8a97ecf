// What is typed meets the sweep of the files: zips, maps, and presets of other experiments.
#include <string>
#include <vector>

#include "config/composed.h"
#include "config/support.h"
#include "support/catch.h"

namespace difflab::config {
namespace {

using studies::compose;
using studies::labels;
using studies::project;
using testing::Folder;

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
  CATCH_CHECK_THAT(compose({"preset=map"}).problems,
                   Catch::Contains("would replace its sweep.model"));
  CATCH_CHECK(compose({"preset=few"}).problems == "");
}

CATCH_TEST_CASE("axes of one zip that are typed go together, in whatever order") {
  const Folder folder(project(
      "# @package _global_\nsweep: {model: [small, large], train.lr: [0.1, 0.2], seed: [0]}\n"));
  const std::string both = "model=small train.lr=0.3 seed=0 | model=large train.lr=0.4 seed=0";
  CATCH_CHECK(labels(compose({"model=zip(small,large)", "train.lr=zip(0.3,0.4)"}).study) == both);
  CATCH_CHECK(labels(compose({"train.lr=zip(0.3,0.4)", "model=zip(small,large)"}).study) == both);
  CATCH_CHECK(
      labels(compose({"model=zip(small,large)", "train.steps=zip(1,2)", "train.lr=0.1"}).study) ==
      "model=small train.steps=1 train.lr=0.1 seed=0 | "
      "model=large train.steps=2 train.lr=0.1 seed=0");
  CATCH_CHECK(
      compose({"model=zip(small,large,name=x)", "train.lr=zip(0.3,0.4)"}).study.points.size() == 4);
  CATCH_CHECK_THAT(compose({"model=zip(small,large)", "train.lr=zip(0.3,0.4,0.5)"}).problems,
                   Catch::Contains("has 3 values and goes together with model, which has 2"));
}

CATCH_TEST_CASE("an axis of a zip that is typed with another name leaves it, in whatever order") {
  const Folder folder(project(
      "# @package _global_\nsweep: {model: 'zip(small,large)', train.lr: 'zip(0.1,0.2)'}\n"));
  for (const auto& typed :
       {std::vector<std::string>{"model=zip(large,small,name=x)", "train.lr=0.1"},
        std::vector<std::string>{"train.lr=0.1", "model=zip(large,small,name=x)"}}) {
    CATCH_CHECK(labels(compose(typed).study) ==
                "model=large train.lr=0.1 | model=small train.lr=0.1");
  }
}

CATCH_TEST_CASE("an axis of a zip in a part of a union does not go with a typed one around it") {
  const Folder folder(
      project("# @package _global_\nsweep: {union: [{model: [small, large]}], seed: [0, 1]}\n"));
  CATCH_CHECK_THAT(compose({"model=zip(small,large)", "train.lr=zip(0.3,0.4)"}).problems,
                   Catch::Contains("sweep.model goes together with an axis outside of its union"));
  CATCH_CHECK(compose({"model=zip(small,large)"}).problems == "");
}

CATCH_TEST_CASE("a typed map beside the parts of a sweep that is a list leaves them there") {
  const Folder folder(project("# @package _global_\nsweep: [{model: small}, {model: large}]\n"));
  CATCH_CHECK(compose({"sweep={repeat: 2}"}).study.points.size() == 4);
  CATCH_CHECK(labels(compose({"sweep={model: [large]}"}).study) == "model=large");
}

}  // namespace
}  // namespace difflab::config
