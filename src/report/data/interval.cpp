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

std::optional<Interval> interval_of_difference(std::span<const double> differences,
                                               const Metric& metric, double level) {
  const bool of_shares =
      metric.outcome() == Outcome::kShare || metric.outcome() == Outcome::kHappened;
  return of_shares ? share_difference_interval(differences, level) : t_interval(differences, level);
}

}  // namespace difflab::report
