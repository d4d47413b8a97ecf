#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "statistics/describe.h"

namespace difflab::report {

/// The runs that share all keys, with one number each.
struct Group {
  std::vector<Json> keys;  ///< null for an empty key name
  std::vector<const FrameRun*> runs;
  std::vector<double> values;  ///< per run; several rows of one run are averaged first,
                               ///< because only runs are independent
  double average = 0;
  std::optional<Interval> interval;  ///< over the runs; empty for one, and where any is censored
  std::size_t censored = 0;  ///< runs whose time never came: their value is what it is longer than
  std::int64_t right = 0;    ///< Σ `correct` of the rows that count their answers
  std::int64_t answers = 0;  ///< Σ `n` of those rows

  std::size_t n() const { return values.size(); }
};

/// Groups `rows` by the values of `keys` and averages `measure`. Ordered by the keys, the first
/// one outermost: an axis in sweep order, numbers ascending. Rows without the measure are left out,
/// and but for curves those of runs that have not learned what it asks. A run's time that never
/// came counts as long as it was waited for: a mean over the others would be the shorter, the fewer
/// got there.
std::vector<Group> aggregate(const Frame& frame, const std::vector<Observation>& rows,
                             const std::vector<std::string>& keys, const std::string& measure);

/// Each group minus the one that differs from it in `axis` alone, with the value `against` there,
/// run by run of equal seed, with the interval that tables give the differences. Groups of
/// `against` itself, and those without a partner, are left out. `keys` are those of the groups.
std::vector<Group> differences(const Frame& frame, const std::vector<Group>& groups,
                               const std::vector<std::string>& keys, const std::string& axis,
                               const std::string& against, const Metric& metric);

/// "Mean and 95 % interval over 3 runs" and the like.
std::string describe_spread(const std::vector<Group>& groups, bool shows_interval);

/// "Diverged: DIFF (step 120). Without a result: DIFF V2 (1 of 3)" for the runs behind a figure
/// that are missing from it, and which have not learned; empty if all is well.
/// @param where of the figure; keys of cells say nothing of runs
std::string describe_gaps(const Frame& frame, const std::string& axis, const TextMap& where,
                          const Labels& labels);

}  // namespace difflab::report
