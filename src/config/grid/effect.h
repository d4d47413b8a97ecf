#pragma once

#include <string_view>

#include "config/compose/library.h"
#include "config/grid/sweep_plan.h"
#include "config/override/override.h"
#include "config/value/problems.h"

namespace difflab::config {

/// Whether an override sets what lies at a path, around it or in it.
bool meets(const Override& item, std::string_view key);

/// Reports an override that speaks of the key of an axis, of what lies around it or in it. The
/// values of an axis are applied last, so that it would change nothing, and results would look as
/// if it did. True if there was something to report. Options of a group are chosen before.
bool refuse_without_effect(const Override& item, SweepPlan& plan, const Library& library,
                           Problems& problems);

}  // namespace difflab::config
