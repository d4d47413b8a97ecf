#pragma once

#include "config/grid/sweep_plan.h"
#include "config/interpolate/expression.h"
#include "config/value/problems.h"

namespace difflab::config {

/// Whether a run stays in its sweep: every `where` holds, and it agrees with no `exclude`. A
/// condition that cannot be evaluated is a problem at its place; the run then stays.
/// @param lookup the values of the run, by the names of axes and of keys
bool stays(const PlannedPoint& point, const NameLookup& lookup, Problems& problems);

}  // namespace difflab::config
