#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/compose/library.h"
#include "config/grid/sweep_plan.h"
#include "config/interpolate/interpolate.h"
#include "config/override/override.h"
#include "config/override/override_value.h"
#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// The axis that an override asks for: "seed=range(3)", or "seed=3", which is an axis of one value.
std::optional<Axis> axis_of(const Override& item, const Library& library, Problems& problems);

/// The key of the axis that an override speaks of: "train.lr", "model@teacher".
std::string axis_key(const Override& item);

/// "model" of the axis "model@teacher".
std::string group_of(const std::string& axis_key);

/// The options of the config group that an axis of this key chooses from; none if it is no group's.
std::vector<std::string> options_of(const std::string& axis_key, const Library& library);

/// Takes the .yaml off the options of a group, which Hydra lets one write.
void name_options(Axis& axis);

/// Reports options that do not exist and values that come twice.
void check_values(const Axis& axis, const Library& library, Problems& problems);

/// The override that gives a run this value of the axis.
Override override_of(const Axis& axis, const Value& value);

/// How a value of an axis is called in tables: its text, or JSON if it is a list or map.
std::string label_of(const Value& value);

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
