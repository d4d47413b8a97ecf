#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/compose/compose.h"
#include "config/interpolate/expression.h"
#include "config/override/override_value.h"
#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// A parsed `sweep:`: factors that are multiplied, and which combinations are left out.
struct SweepPlan {
  struct Factor;

  std::vector<Factor> factors;  ///< the last one is the fastest
  std::vector<Value> where;     ///< conditions that every run has to meet, as texts
  std::vector<Value> exclude;   ///< maps of keys to values; runs that agree with one are left out
};

/// One axis, or a union of sweeps.
struct SweepPlan::Factor {
  std::optional<Axis> axis;
  std::vector<SweepPlan> parts;  ///< of a union, which has no axis of its own
};

/// One combination of values, before anything is left out.
struct PlannedPoint {
  std::vector<std::pair<const Axis*, const Value*>> values;  ///< of the plan, in its order
  std::vector<const SweepPlan*> plans;                       ///< whose conditions it has to meet
};

/// Reads the `sweep:` of a composed study; a null entry is none. Entries that are one text with
/// interpolations, such as "range(${vars.seeds})", are resolved first.
SweepPlan read_sweep(const Value& study, const Library& library, Problems& problems);

/// A `sweep:` that is a list is a union alone: where keys are to be set beside its parts (key is
/// "sweep"), it becomes the map that says so. A map with axes of the parts takes its place instead.
void union_from_list(Value& tree, const std::string& key, const Value& over);

/// Gives every axis of that key the values of `axis`, or adds it as the last factor.
void replace_axis(SweepPlan& plan, Axis axis);

/// Every axis, in the order in which they are written.
void for_each_axis(SweepPlan& plan, const std::function<void(Axis&)>& visit);
const Axis* find_axis(SweepPlan& plan, const std::string& key);

/// True if every combination has a value of this axis, which parts of a union may lack.
bool is_everywhere(const SweepPlan& plan, const std::string& key);

bool has_union(const SweepPlan& plan);
/// Removes axes without values.
void drop_empty(SweepPlan& plan);
/// How many combinations there are; at most `limit`.
std::size_t count_points(const SweepPlan& plan, std::size_t limit);
/// All combinations in order. They point into the plan.
std::vector<PlannedPoint> expand(const SweepPlan& plan);

/// `where:` as a list of texts.
std::vector<Value> read_conditions(const Value& value, Problems& problems);

/// `exclude:` as a list of maps, each value of which is a list of values that it stands for, or
/// one.
std::vector<Value> read_exclusions(const Value& value, const Library& library, Problems& problems);

/// Lookup of the names in a run: axes, choices of config groups, keys. Refers to the arguments.
/// @param vars a map with `vars` in it, or null
NameLookup names_in(const PlannedPoint& point, const std::vector<Default>& defaults,
                    const Value& config, const Value& vars);

/// True if a run stays in its sweep: every `where` holds, and it agrees with no `exclude`. A
/// condition that cannot be evaluated is a problem at its place; the run then stays.
/// @param lookup the values of the run, by the names of axes and of keys
bool stays(const PlannedPoint& point, const NameLookup& lookup, Problems& problems);

}  // namespace difflab::config
