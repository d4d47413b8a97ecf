#include "report/data/interval.h"

#include <algorithm>
#include <cstdint>

#include "statistics/share.h"

namespace difflab::report {

std::optional<Interval> interval_of_mean(std::span<const double> values, const Metric& metric) {
  switch (metric.outcome()) {
    case Outcome::kShare:
      return mean_share_interval(values);
    case Outcome::kHappened:
      return wilson_interval(std::count(values.begin(), values.end(), 1.0),
                             static_cast<std::int64_t>(values.size()));
    default:
      break;
  }
  auto interval = t_interval(values);
  if (interval) interval->low = std::max(interval->low, std::min(metric.least, mean(values)));
  return interval;
}

}  // namespace difflab::report
