#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/compose/library.h"
#include "config/grid/sweep_plan.h"
#include "config/interpolate/interpolate.h"
#include "config/override/override.h"
#include "config/value/problems.h"

namespace difflab::config {

/// True if an override sets the value at a path, one around it or one in it.
bool meets(const Override& item, std::string_view key);

/// Reports an override that speaks of the key of an axis, of what lies around it or in it. The
/// values of an axis are applied last, so that it would change nothing, and results would look as
/// if it did. True if there was something to report. Options of a group are chosen before.
bool refuse_without_effect(const Override& item, SweepPlan& plan, const Library& library,
                           Problems& problems);

/// Reports keys of a run that hold the time and the like: it would have another id each time, and
/// no sweep would find it finished. `free` are keys that may.
void refuse_fleeting(const std::vector<FleetingUse>& uses, const std::vector<std::string>& free,
                     Problems& problems);

/// Reports study keys that `tree`, the files with some options of swept groups, has otherwise than
/// the `whole` study: they would hold for all runs or for none.
void refuse_for_some_runs(const Value& whole, const Value& tree,
                          const std::vector<std::string>& study_keys, Problems& problems);

}  // namespace difflab::config
