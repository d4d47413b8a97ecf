#pragma once

#include <vector>

#include "statistics/metric_facts.h"

namespace difflab {

/// What every evaluation says of its metrics.
std::vector<MetricFacts> metrics_of_evaluations();

}  // namespace difflab
