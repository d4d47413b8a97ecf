#include "config/compose/trace.h"

#include "config/grid/study.h"
#include "config/support.h"

namespace difflab::config {
namespace {

using testing::Folder;

const std::vector<std::pair<std::string, std::string>> kFiles{
    {"configs/config.yaml", "defaults:\n  - model: small\n  - _self_\ntrain: {lr: 1, steps: 5}\n"},
    {"configs/model/base.yaml", "width: 4\n"},
    {"configs/model/small.yaml", "name: small\n"},
    {"configs/model/large.yaml", "defaults: [base]\nname: large\n"},
    {"experiments/e.yaml",
     "defaults: [override /model: large, _self_]\ntrain:\n  lr: 2\nsweep: {train.lr: [3, 4]}\n"
     "presets: {smoke: {train: {steps: 1}}}\n"},
};

Trace traced(const std::string& key, const std::vector<std::string>& overrides,
             std::size_t point = 0) {
  const Folder folder(kFiles);
  Trace trace(key);
  Problems problems;
  compose_study({.search_path = SearchPath::of_project("."),
                 .experiment = "e",
                 .overrides = parse_overrides(overrides, problems),
                 .run_keys = {"model", "train"},
                 .study_keys = {"results"},
                 .watch = {point, trace.observer()}},
                problems);
  CATCH_CHECK(problems.text() == "");
  return trace;
}

/// "1 from a.yaml:1:2 | 2 from override x=2"
std::string steps(const Trace& trace, const std::string& path) {
  std::string text;
  for (const Step& step : trace.steps(path)) {
    text += text.empty() ? "" : " | ";
    text += step.removed ? "removed" : step.value.as_string();
    text += " from " + step.source.text();
  }
  return text;
}

CATCH_TEST_CASE("a trace holds every value that a key had, and where it came from") {
  CATCH_CHECK(steps(traced("train", {}, 1), "train.lr") ==
              "1 from configs/config.yaml:4:13 | 2 from experiments/e.yaml:3:7 | "
              "4 from experiments/e.yaml:4:23");
  CATCH_CHECK(steps(traced("train", {"preset=smoke"}), "train.steps") ==
              "5 from configs/config.yaml:4:23 | 1 from experiments/e.yaml:5:34");
  CATCH_CHECK(steps(traced("train.steps", {"train.steps=7", "~train.steps"}), "train.steps") ==
              "5 from configs/config.yaml:4:23 | 7 from override train.steps=7 | "
              "removed from override ~train.steps");
}

CATCH_TEST_CASE("the same value written again counts as written there") {
  CATCH_CHECK(steps(traced("train", {"train.steps=5"}), "train.steps") ==
              "5 from configs/config.yaml:4:23 | 5 from override train.steps=5");
}

CATCH_TEST_CASE("a trace knows who chose the file that a value stands in") {
  const Trace trace = traced("model", {});
  CATCH_CHECK(steps(trace, "model.name") == "large from configs/model/large.yaml:2:7");
  CATCH_CHECK(trace.steps("model.name").at(0).chosen.text() == "experiments/e.yaml:1:29");
  CATCH_CHECK(trace.steps("model").empty());
  CATCH_CHECK(trace.tree().find_path("train.lr")->as_int() == 3);
}

CATCH_TEST_CASE("the defaults tree shows the files in merge order below the lists that name them") {
  CATCH_CHECK(defaults_tree(traced("", {"preset=smoke"}).defaults()) ==
              "config\n"
              "  model: large  # experiments/e.yaml:1:29, instead of small at "
              "configs/config.yaml:2:12\n"
              "    model/base  # configs/model/large.yaml:1:12\n"
              "    _self_\n"
              "  _self_\n"
              "  experiment/e\n"
              "  preset of the experiment\n");
}

}  // namespace
}  // namespace difflab::config
