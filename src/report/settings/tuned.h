#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/planned_run.h"
#include "statistics/describe.h"
#include "util/json.h"

namespace difflab::report {

/// "0.001, 0.003, 0.01".
std::string listed(const std::vector<double>& numbers);

/// How one key was tuned for every variant of a study, before the runs that are reported.
struct Tuned {
  /// One of the best two values of a variant, which went on to more seeds.
  struct Finalist {
    double value = 0;
    std::vector<double> metrics = {};  ///< of its seeds, `seeds` and then those that follow
    std::vector<bool> learned = {};    ///< which of them got there; else the metric is a bound
  };
  struct Variant {
    Axes axes;                    ///< without the seed
    std::optional<double> value;  ///< empty: not tunable, as no value of the grid works
    bool at_edge = false;         ///< and the grid has grown as far as it may
    bool is_longer = false;       ///< no value worked in `steps`; these are those of longer runs
    std::optional<int> learned = {};       ///< with how many seeds it got there, if not with all
    std::vector<Finalist> finalists = {};  ///< that which is taken, then the runner-up, if any
  };

  std::string key = "";
  std::vector<double> grid = {};
  std::vector<std::int64_t> seeds = {};
  std::int64_t steps = 0;
  std::int64_t longer = 0;     ///< steps of the longer runs; 0: there were to be none
  std::string criterion = "";  ///< how the best was found, a clause
  std::vector<Variant> variants = {};
  /// How many of all `trials` of a value for a variant ended after one seed, because the value
  /// could no longer be the best.
  int with_one_seed = 0, trials = 0;
  std::int64_t again = 0;           ///< seeds that finalists had besides `seeds`; 0: there are none
  std::string metric = "";          ///< by which they were compared; empty without finalists
  bool is_geometric = false;        ///< means of the metric are, as it is a time
  std::vector<double> beyond = {};  ///< values that grids grew by, as a best lay at an edge

  double mean_of(const Finalist& one) const;
  /// The 95 % t interval of the mean, of logarithms if it is geometric; empty for one seed.
  std::optional<Interval> interval_of(const Finalist& one) const;
  /// True if either finalist might have been taken: their intervals overlap in more than half of
  /// the shorter one, or one of them has no interval.
  bool ties(const Variant& variant) const;

  /// The tuning as sentences for the notes of a table.
  std::string text() const;
  /// "diff 0.003, transformer 0.01; not tunable: diff_v2".
  std::string picks() const;

  Json json() const;
  /// @throws Json::exception if it is none.
  static Tuned of(const Json& json);
};

}  // namespace difflab::report
