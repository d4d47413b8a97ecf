#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/schema/fields.h"
#include "util/text.h"

namespace difflab::sweep {

enum class Goal { kLowest, kHighest };

}  // namespace difflab::sweep

namespace difflab {

template <>
struct config::EnumNames<sweep::Goal> {
  static constexpr std::array<std::pair<std::string_view, sweep::Goal>, 2> kNames{{
      {"lowest", sweep::Goal::kLowest},
      {"highest", sweep::Goal::kHighest},
  }};
};

}  // namespace difflab

namespace difflab::sweep {

/// An axis of a sweep whose values are not results but a choice, e.g. the learning rate: for every
/// combination of the other axes one value is found by successive halving (halving.h), and only its
/// runs train to the end and are reported.
struct SearchConfig {
  std::string axis;  ///< empty: nothing is searched
  std::string metric = "valid_loss";
  Goal goal = Goal::kLowest;
  double keep = 0.5;
  std::vector<double> rungs = {0.25, 0.5};

  bool active() const { return !axis.empty(); }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("axis", axis, "axis of which each variant keeps one value, e.g. train.lr; empty: none");
    visit("metric", metric, "of metrics.jsonl, on the validation split; mean over seeds");
    visit("goal", goal, "which value of the metric is best: lowest or highest");
    visit("keep", keep, "share of the values that goes on after each rung but the last",
          config::between(0, 1));
    visit("rungs", rungs,
          "shares of train.steps after which values are dropped; the last keeps one",
          config::between(0, 1));
  }
  void validate(config::Check& check) const {
    if (rungs.empty()) check.problem("rungs", "is empty; expected at least one share");
    for (std::size_t i = 1; i < rungs.size(); ++i) {
      if (rungs[i] <= rungs[i - 1]) {
        check.problem("rungs", concat("has ", rungs[i], " behind ", rungs[i - 1],
                                      "; expected growing shares"));
      }
    }
  }
};

}  // namespace difflab::sweep
