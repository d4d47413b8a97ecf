// Sweeps beyond the grid. Most of what they do is said by a table in docs/configuration.md, which
// is read here: an example that is not true fails.
#include "config/grid/sweep_plan.h"

#include <sstream>

#include "config/grid/study.h"
#include "config/support.h"

namespace difflab::config {
namespace {

using testing::Folder;

struct Example {
  std::string sweep;
  std::vector<std::string> overrides;
  std::string runs;
};

std::string cell(std::istringstream& row) {
  std::string text;
  std::getline(row, text, '|');
  const auto begin = text.find_first_not_of(' ');
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::string without_ticks(const std::string& text) {
  return text.empty() ? "" : text.substr(1, text.size() - 2);
}

std::vector<Example> documented() {
  std::istringstream lines(read_file(DIFFLAB_ROOT "/docs/configuration.md"));
  std::vector<Example> examples;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "<!-- sweep examples -->") inside = true;
    if (line == "<!-- end of sweep examples -->") inside = false;
    if (!inside || !line.starts_with("| `") || line.starts_with("| `sweep")) continue;
    std::istringstream row(line.substr(1));
    Example example;
    example.sweep = without_ticks(cell(row));
    std::istringstream words(without_ticks(cell(row)));
    for (std::string word; std::getline(words, word, ' ');) {
      const bool open =
          !example.overrides.empty() &&
          std::count(example.overrides.back().begin(), example.overrides.back().end(), '"') % 2 ==
              1;
      if (open) {
        example.overrides.back() += " " + word;
      } else {
        example.overrides.push_back(word);
      }
    }
    example.runs = cell(row);
    examples.push_back(std::move(example));
  }
  return examples;
}

struct Planned {
  Study study;
  std::string runs, problems;
};

Planned plan_of(const std::string& sweep, const std::vector<std::string>& overrides = {}) {
  const Folder folder({
      {"configs/config.yaml", "defaults: [model: small, train: short, _self_]\nseed: 0\n"},
      {"configs/model/small.yaml", "name: small\nwidth: 8\n"},
      {"configs/model/large.yaml", "name: large\nwidth: 64\n"},
      {"configs/train/short.yaml", "steps: 10\nlr: 0.1\n"},
      {"experiments/e.yaml", "vars: {n: 2}\nsweep: " + sweep + "\n"},
  });
  Planned result;
  Problems problems;
  result.study = compose_study({.search_path = SearchPath::of_project("."),
                                .experiment = "e",
                                .overrides = parse_overrides(overrides, problems),
                                .run_keys = {"model", "train", "seed"},
                                .study_keys = {"title"}},
                               problems);
  for (const Point& point : result.study.points) {
    std::vector<std::string> labels;
    for (const auto& axis : point.axes) labels.push_back(axis.second);
    result.runs += (result.runs.empty() ? "`" : " `") + join(labels, " ") + "`";
  }
  result.problems = problems.text();
  return result;
}

CATCH_TEST_CASE("the examples of sweeps in the documentation are true") {
  const auto examples = documented();
  CATCH_CHECK(examples.size() == 22);
  for (const Example& example : examples) {
    CATCH_INFO(example.sweep << "   " << join(example.overrides, " "));
    const Planned composed = plan_of(example.sweep, example.overrides);
    CATCH_CHECK(composed.problems == "");
    CATCH_CHECK(composed.runs == example.runs);
  }
}

CATCH_TEST_CASE("texts inside a union may refer to other values") {
  CATCH_CHECK(plan_of("{union: [{model: small, seed: 'range(${vars.n})'}, {model: large}]}").runs ==
              "`small 0` `small 1` `large 0`");
}

CATCH_TEST_CASE("a key that other parts of a union sweep over has its own value elsewhere") {
  const Planned composed = plan_of("[{train: short}, {seed: 3, train.depth: 1}]");
  CATCH_CHECK(composed.problems == "");
  // Axes: train, seed, train.depth; no file gives the first run a depth.
  CATCH_CHECK(composed.runs == "`short 0 ` `short 3 1`");
}

CATCH_TEST_CASE("a text that is excluded stands for itself, whatever characters it has") {
  CATCH_CHECK(plan_of("{model.name: ['a, b', c], seed: [0, 1], exclude: {model.name: 'a, b', seed: "
                      "1}}")
                  .runs == "`a, b 0` `c 0` `c 1`");
  CATCH_CHECK(plan_of("{model.name: ['N(0, 1/D)', c], exclude: {model.name: 'N(0, 1/D)'}}").runs ==
              "`c`");
  CATCH_CHECK(plan_of("{seed: [0, 1, 2], exclude: {seed: '0,1'}}").runs == "`2`");
  CATCH_CHECK(plan_of("{model: [small, large], exclude: {model: 'glob(s*)'}}").runs == "`large`");
}

CATCH_TEST_CASE("what is wrong with a run that is left out does not matter") {
  CATCH_CHECK(plan_of("{model: [small, large], train.lr: ['${model.x}'], where: model == 'none'}")
                  .problems == "the conditions of the sweep leave no run");
  CATCH_CHECK(plan_of("{seed: [0, '${nothing}'], where: seed == 0}").problems == "");
}

CATCH_TEST_CASE("what is wrong with a sweep is said with its place") {
  const auto problems = [](const std::string& sweep,
                           const std::vector<std::string>& overrides = {}) {
    return plan_of(sweep, overrides).problems;
  };
  CATCH_CHECK(problems("3") ==
              "experiments/e.yaml:2:8: sweep is 3; expected a map of keys to values");
  CATCH_CHECK(problems("[3]") ==
              "experiments/e.yaml:2:9: sweep has 3 in a union; expected maps of "
              "keys to values");
  CATCH_CHECK(problems("{union: []}") ==
              "experiments/e.yaml:2:16: sweep.union is empty; expected a list of sweeps");
  CATCH_CHECK(problems("{seed: range(2), repeat: 2}") ==
              "experiments/e.yaml:2:25: sweep has seed twice (repeat is an axis of it); to take "
              "one away set it to null");
  CATCH_CHECK(problems("{seed: range(2), union: [{seed: 1}]}") ==
              "experiments/e.yaml:2:34: sweep has seed twice; to take one away set it to null");
  CATCH_CHECK(problems("{repeat: 2, union: [{seed: 1}]}") ==
              "experiments/e.yaml:2:29: sweep has seed twice (repeat is an axis of it); to take "
              "one away set it to null");
  CATCH_CHECK(
      problems("{repeat: 0}") ==
      "experiments/e.yaml:2:17: sweep.repeat is 0; expected a whole number from 1 to 100000");
  CATCH_CHECK(problems("{seed: range(2), where: sede > 0}") ==
              "experiments/e.yaml:2:32: sweep.where: there is no key sede (a text needs quotes: "
              "'sede') in: sede > 0");
  CATCH_CHECK(problems("{where: 3}") ==
              "experiments/e.yaml:2:16: sweep.where is 3; expected a condition, e.g. train.lr < "
              "0.1, or a list");
  CATCH_CHECK(problems("{seed: range(2), exclude: [{sede: 0}]}") ==
              "experiments/e.yaml:2:36: sweep.exclude: there is no key sede; did you mean seed?");
  CATCH_CHECK(problems("{exclude: seed}") ==
              "experiments/e.yaml:2:18: sweep.exclude has 'seed'; expected maps of keys to values, "
              "e.g. {model: diff}");
  CATCH_CHECK(problems("[{model: lrage}, {sede: 1}]") ==
              "experiments/e.yaml:2:17: config group model has no option lrage; did you mean "
              "large?\nexperiments/e.yaml:2:26: unknown key sede; did you mean seed?");
  CATCH_CHECK(problems("{seed: [0], exclude: {model: lrage}}") ==
              "experiments/e.yaml:2:37: sweep.exclude: config group model has no option lrage; did "
              "you mean large?");
  CATCH_CHECK(problems("{train.lr: [0.1, 1e-1]}") ==
              "experiments/e.yaml:2:25: sweep.train.lr has 0.1 twice");
  CATCH_CHECK(problems("{seed: [1, '1', 1.0]}") ==
              "experiments/e.yaml:2:19: sweep.seed has 1 twice\n"
              "experiments/e.yaml:2:24: sweep.seed has 1.0 twice");
  CATCH_CHECK(problems("{seed: [9007199254740992, 9007199254740993, abc, 1abc]}") == "");
  CATCH_CHECK(problems("{seed: range(1000), train.steps: 'range(1,1001)'}")
                  .find("the sweep has more than 100000 points") == 0);
}

CATCH_TEST_CASE("conditions choose among a thousand runs") {
  const Planned composed = plan_of(
      "{union: [{model: [small, large]}, {model: large, train.lr: 0.3}], "
      "train.steps: 'range(1,41)', repeat: 10, where: train.steps % 5 != 0}");
  CATCH_CHECK(composed.problems == "");
  CATCH_CHECK(composed.study.points.size() == 3 * 32 * 10);
}

}  // namespace
}  // namespace difflab::config
