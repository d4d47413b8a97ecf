#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/compose/library.h"
#include "config/override/override.h"
#include "config/override/sweep_value.h"
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

}  // namespace difflab::config
