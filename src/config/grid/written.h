#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/interpolate/facts.h"
#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// What a run's keys are interpolated from.
struct Written {
  Value tree;
  std::vector<std::string> keys;  ///< of the run
  Facts facts;

  /// The run's keys where these have other values, as if they had been written so: what refers to
  /// them follows.
  Value with(const std::vector<std::pair<std::string, Value>>& changes, Problems& problems) const;
};

/// A map of these keys of a tree alone, which has them.
Value part_of(Value tree, const std::vector<std::string>& keys);

}  // namespace difflab::config
