#pragma once

#include <optional>
#include <span>

#include "report/data/metric.h"
#include "statistics/describe.h"

namespace difflab::report {

/// The 95 % interval of the mean of `values`, as the metric's kind of outcome wants it. It stays
/// within the metric's range, in which the mean lies. Empty if there are too few values.
std::optional<Interval> interval_of_mean(std::span<const double> values, const Metric& metric);

}  // namespace difflab::report
