#include <algorithm>
#include <map>

#include "config/grid/axes.h"
#include "config/grid/sweep_plan.h"
#include "config/override/override_value.h"
#include "config/value/value.h"
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

/// True if a run has all these values; a list stands for any of its items.
bool agrees(const Value& exclusion, const PlannedPoint& point, const NameLookup& lookup,
            Problems& problems) {
  const auto& entries = exclusion.entries();
  return std::ranges::all_of(entries, [&](const Value::Entry& entry) {
    const Value* actual = lookup(entry.key);
    if (!actual) {
      std::vector<std::string> axes;
      for (const auto& [axis, value] : point.values) axes.push_back(axis->key);
      problems.add(
          entry.source, "sweep.exclude",
          concat("sweep.exclude: there is no key ", entry.key, suggestion(entry.key, axes)));
      return false;
    }
    const auto& any = entry.value.items();
    return same_value(*actual, entry.value) ||
           std::ranges::any_of(any, [&](const Value& value) { return same_value(*actual, value); });
  });
}

void require_option(const std::string& group, const std::vector<std::string>& options,
                    const Value& value, Problems& problems) {
  const auto name = value.is_scalar() ? value.as_string() : canonical_json(value);
  if (options.empty() || is_among(name, options)) return;
  problems.add(value.source, "sweep",
               concat("sweep.exclude: config group ", group, " has no option ", name,
                      suggestion(name, options)));
}

std::vector<Value> items_of(const Value& value) {
  return value.is_list() ? value.items() : std::vector<Value>{value};
}

/// Its values may be written as those of axes are: range(2), "0,1". A list stands for any of them,
/// and a text always for itself, too.
Value any_of_values(const Value& exclusion, const Library& library, Problems& problems) {
  Value all = Value::map(exclusion.source);
  for (const Value::Entry& entry : exclusion.entries()) {
    const auto group = group_of(entry.key);
    const auto options = options_of(entry.key, library);
    std::vector<Value> values = items_of(entry.value);
    if (entry.value.is_string()) {
      Problems none;  // a text that no axis could have
      const auto expanded = expand_axis(entry.key, entry.value, options, none);
      if (none.empty()) {
        const bool is_itself = expanded.size() == 1 && expanded.front() == entry.value;
        if (!options.empty() && !is_itself) values.clear();
        values.insert(values.end(), expanded.begin(), expanded.end());
      }
    }
    for (const Value& value : values) require_option(group, options, value, problems);
    Value any = Value::list(std::move(values));
    any.source = entry.value.source;
    const bool is_any = entry.value.is_list() || entry.value.is_string();
    all.set(entry.key, is_any ? std::move(any) : entry.value, entry.source);
  }
  return all;
}

}  // namespace

std::vector<Value> read_conditions(const Value& value, Problems& problems) {
  for (const Value& item : items_of(value)) {
    if (item.is_string()) continue;
    problems.add(item.source, "sweep",
                 concat("sweep.where is ", describe(item),
                        "; expected a condition, e.g. train.lr < 0.1, or a list"));
    return {};
  }
  return items_of(value);
}

std::vector<Value> read_exclusions(const Value& value, const Library& library, Problems& problems) {
  std::vector<Value> all;
  for (const Value& item : items_of(value)) {
    if (!item.is_map() || item.empty()) {
      problems.add(item.source, "sweep",
                   concat("sweep.exclude has ", describe(item),
                          "; expected maps of keys to values, e.g. {model: diff}"));
      return {};
    }
    all.push_back(any_of_values(item, library, problems));
  }
  return all;
}

NameLookup names_in(const PlannedPoint& point, const std::vector<Default>& defaults,
                    const Value& config, const Value& vars) {
  std::map<std::string, Value> choices;
  for (const Default& item : defaults) {
    if (!item.group) continue;
    choices.emplace(*item.group, item.option);
    choices.emplace(concat(*item.group, "@", item.package), item.option);
  }
  return [&, choices = std::move(choices)](const std::string& name) -> const Value* {
    const Value* own = config.find_path(name);
    for (const auto& [axis, value] : point.values) {
      if (axis->key == name) return own && !axis->group ? own : value;
    }
    const auto choice = choices.find(name);
    if (choice != choices.end()) return &choice->second;
    return own == nullptr && name.starts_with("vars.") ? vars.find_path(name) : own;
  };
}

bool stays(const PlannedPoint& point, const NameLookup& lookup, Problems& problems) {
  return std::ranges::all_of(point.plans, [&](const SweepPlan* plan) {
    return std::ranges::all_of(plan->where,
                               [&](const Value& c) { return is_met(c, lookup, problems); }) &&
           std::ranges::none_of(plan->exclude,
                                [&](const Value& e) { return agrees(e, point, lookup, problems); });
  });
}

}  // namespace difflab::config
