#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/grid/study.h"
#include "util/text.h"

// A small project of configuration files, and what is composed of it.
namespace difflab::config::studies {

using Files = std::vector<std::pair<std::string, std::string>>;

inline Files project(const std::string& experiment) {
  return {
      {"configs/config.yaml",
       "defaults:\n  - model: small\n  - train: short\n  - _self_\nseed: 0\nthreads: 1\n"},
      {"configs/model/small.yaml", "name: small\nwidth: 8\n"},
      {"configs/model/large.yaml", "defaults: [small]\nname: large\nwidth: 64\n"},
      {"configs/train/short.yaml", "steps: 10\nlr: 0.1\n"},
      {"configs/train/long.yaml", "steps: 99\nlr: 0.2\nwarmup: 5\n"},
      {"experiments/e.yaml", experiment},
  };
}

struct Composed {
  Study study;
  std::string problems;
};

inline Composed compose(const std::vector<std::string>& overrides = {}) {
  Problems problems;
  Composed result;
  result.study = compose_study({.search_path = SearchPath::of_project("."),
                                .experiment = "e",
                                .overrides = parse_overrides(overrides, problems),
                                .run_keys = {"model", "train", "seed", "threads"},
                                .study_keys = {"title", "tables", "results"}},
                               problems);
  result.problems = problems.text();
  return result;
}

/// "model=small seed=0 | …", the labels of all points.
inline std::string labels(const Study& study) {
  std::vector<std::string> points;
  for (const Point& point : study.points) {
    std::vector<std::string> axes;
    for (const auto& [axis, label] : point.axes) axes.push_back(axis + "=" + label);
    points.push_back(join(axes, " "));
  }
  return join(points, " | ");
}

inline std::string run(const Study& study, std::size_t i) {
  return to_json(study.points.at(i).config).dump();
}

}  // namespace difflab::config::studies
