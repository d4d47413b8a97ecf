#include "config/grid/sweep_conditions.h"

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

bool is_met(const Value& condition, const NameLookup& lookup, Problems& problems) {
  try {
    return holds(condition.as_string(), lookup);
  } catch (const UserError& error) {
    problems.add(condition.source, "sweep.where",
                 concat("sweep.where: ", error.what(), " in: ", condition.as_string()));
    return true;
  }
}

/// Whether a run has all these values; a list stands for any of its items.
bool agrees(const Value& exclusion, const NameLookup& lookup, Problems& problems) {
  const auto& entries = exclusion.entries();
  return std::all_of(entries.begin(), entries.end(), [&](const Value::Entry& entry) {
    const Value* actual = lookup(entry.key);
    if (!actual) {
      problems.add(entry.source, "sweep.exclude",
                   concat("sweep.exclude: there is no key ", entry.key));
      return false;
    }
    const auto& any = entry.value.items();
    return same_value(*actual, entry.value) ||
           std::any_of(any.begin(), any.end(),
                       [&](const Value& value) { return same_value(*actual, value); });
  });
}

}  // namespace

bool stays(const PlannedPoint& point, const NameLookup& lookup, Problems& problems) {
  return std::all_of(point.plans.begin(), point.plans.end(), [&](const SweepPlan* plan) {
    return std::all_of(plan->where.begin(), plan->where.end(),
                       [&](const Value& c) { return is_met(c, lookup, problems); }) &&
           std::none_of(plan->exclude.begin(), plan->exclude.end(),
                        [&](const Value& e) { return agrees(e, lookup, problems); });
  });
}

}  // namespace difflab::config
