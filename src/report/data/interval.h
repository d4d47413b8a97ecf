#pragma once

#include <optional>
#include <span>

#include "report/data/metric.h"
#include "statistics/describe.h"

namespace difflab::report {

/// The 95 % interval of the mean of `values`, as the metric's kind of outcome wants it. It stays
/// within the metric's range, in which the mean lies. Empty if there are too few values.
std::optional<Interval> interval_of_mean(std::span<const double> values, const Metric& metric);

/// The interval of the mean of paired differences: of shares on Fisher's z scale, so that it stays
/// within −1 and 1. Empty if there are too few.
std::optional<Interval> interval_of_difference(std::span<const double> differences,
                                               const Metric& metric, double level = 0.95);

}  // namespace difflab::report
