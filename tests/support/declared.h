// Metrics that are known to the end of a test.
#pragma once

#include <utility>
#include <vector>

#include "report/data/metric.h"

namespace difflab {

struct Declared {
  explicit Declared(std::vector<MetricFacts> facts) { report::declare_metrics(std::move(facts)); }
  ~Declared() { report::declare_metrics({}); }
  Declared(const Declared&) = delete;
  Declared& operator=(const Declared&) = delete;
};

}  // namespace difflab
