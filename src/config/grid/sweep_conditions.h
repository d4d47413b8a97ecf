#pragma once

#include <vector>

#include "config/compose/library.h"
#include "config/grid/sweep_plan.h"
#include "config/interpolate/expression.h"
#include "config/value/problems.h"

namespace difflab::config {

/// `where:` as a list of texts.
std::vector<Value> read_conditions(const Value& value, Problems& problems);

/// `exclude:` as a list of maps, each value of which is a list of values that it stands for, or
/// one.
std::vector<Value> read_exclusions(const Value& value, const Library& library, Problems& problems);

/// Whether a run stays in its sweep: every `where` holds, and it agrees with no `exclude`. A
/// condition that cannot be evaluated is a problem at its place; the run then stays.
/// @param lookup the values of the run, by the names of axes and of keys
bool stays(const PlannedPoint& point, const NameLookup& lookup, Problems& problems);

}  // namespace difflab::config
