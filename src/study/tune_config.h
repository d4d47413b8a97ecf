#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "config/schema/fields.h"
#include "util/text.h"

namespace difflab::cli {

enum class Goal { kLowest, kHighest };

}  // namespace difflab::cli

namespace difflab {

template <>
inline constexpr auto config::kNames<cli::Goal> = names("lowest", "highest");

}  // namespace difflab

namespace difflab::cli {

/// The value of one key that every variant gets before its runs are trained, e.g. its learning
/// rate: each value of a grid is tried in runs of their own, with other seeds, on the validation
/// split. All variants have the same seeds and steps, and
/// begin with the same grid (study/load/tuning.h).
struct TuneConfig {
  std::string key;  ///< empty: nothing is tuned
  std::vector<double> values = {};
  std::int64_t seeds = 3;
  std::int64_t first_seed = 10'000;
  std::int64_t again = 0;
  std::int64_t steps = 0;
  std::int64_t longer = 0;
  bool grow = true;
  bool every_seed = false;
  std::string metric = "valid_loss";
  Goal goal = Goal::kLowest;

  bool active() const { return !key.empty(); }

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("key", key,
          "key of which each variant gets a value of its own, e.g. train.lr; empty: none");
    visit("values", values, "the grid, ascending, each above 0");
    visit("seeds", seeds, "runs per variant and value, with seeds that are not reported",
          config::between(1, 1000));
    visit("first_seed", first_seed,
          "of these seeds, which count up; those that are reported lie below", config::at_least(1));
    visit(
        "again", again,
        "the best two values of each variant go on to as many more seeds, and the better by all is "
        "taken; 0: the best by the first is",
        config::between(0, 1000));
    visit("steps", steps, "train.steps of these runs; 0: those of the runs that are reported",
          config::at_least(0));
    visit("longer", longer,
          "steps of these runs anew for variants of which no value works in as many as the others "
          "have; 0: these are not tunable",
          config::at_least(0));
    visit(
        "grow", grow,
        "a value at an edge that is the best of a variant adds one beyond, for it and for variants "
        "of which no value works");
    visit("every_seed", every_seed,
          "a value whose first seed did not learn is tried with the others even where it cannot be "
          "the best any more");
    visit("metric", metric,
          "the values are compared by its mean over the seeds, after as many of them have learned");
    visit("goal", goal, "which value of the metric is best: lowest or highest");
  }
  void validate(config::Check& check) const {
    if (!active()) {
      if (!values.empty()) check.problem("values", "are given, and no key; expected tune.key");
      return;
    }
    if (values.size() < 3) {
      check.problem("values", concat("has ", values.size(), " values; expected at least 3"));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double before = i == 0 ? 0 : values[i - 1];
      if (std::isfinite(values[i]) && values[i] > before) continue;
      check.problem("values", concat("has ", values[i], i == 0 ? "" : concat(" behind ", before),
                                     "; expected finite numbers above 0 that grow"));
      return;
    }
  }
};

}  // namespace difflab::cli
