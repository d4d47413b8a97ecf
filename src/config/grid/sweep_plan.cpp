#include "config/grid/sweep_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "config/grid/axes.h"
#include "config/grid/sweep_conditions.h"
#include "config/interpolate/interpolate.h"
#include "config/interpolate/interpolation_text.h"
#include "config/value/canonical.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::string_view kUnion = "union", kWhere = "where", kExclude = "exclude",
                           kRepeat = "repeat";
constexpr const char* kSweep = "sweep";
constexpr const char* kRepeated = "seed";  ///< the axis that `repeat: 3` stands for

bool has_interpolation_within(const Value& value) {
  const auto& items = value.items();
  const auto& entries = value.entries();
  return (value.is_string() && has_interpolation(value.as_string())) ||
         std::any_of(items.begin(), items.end(), has_interpolation_within) ||
         std::any_of(entries.begin(), entries.end(), [](const Value::Entry& entry) {
           return has_interpolation_within(entry.value);
         });
}

/// The texts with interpolations that stand for values of axes, and what is excluded, without
/// everything else.
Value texts_to_resolve(const Value& sweep) {
  Value texts = Value::map();
  for (const Value::Entry& entry : sweep.entries()) {
    if (entry.key == kUnion && entry.value.is_list()) {
      Value parts = Value::list();
      for (const Value& part : entry.value.items()) parts.push_back(texts_to_resolve(part));
      texts.set(entry.key, std::move(parts));
    } else if (entry.key != kWhere && (entry.value.is_string() || entry.key == kExclude) &&
               has_interpolation_within(entry.value)) {
      texts.set(entry.key, entry.value, entry.source);
    }
  }
  return texts;
}

void put_back(Value& sweep, const Value& texts) {
  for (const Value::Entry& entry : texts.entries()) {
    Value* own = sweep.find(entry.key);
    if (entry.key != kUnion || !own->is_list()) {
      sweep.set(entry.key, entry.value, entry.source);
      continue;
    }
    auto& parts = own->mutable_items();
    for (std::size_t i = 0; i < parts.size(); ++i) put_back(parts[i], entry.value.items()[i]);
  }
}

/// `sweep:` as a map, with its texts resolved; lists are left alone, as their values belong to the
/// runs. A list is a union.
Value resolved_specs(const Value& study, Problems& problems) {
  Value tree = study;
  union_from_list(tree, kSweep, Value::map());
  Value sweep = *tree.find(kSweep);
  tree.set(kSweep, texts_to_resolve(sweep));
  interpolate(tree, {kSweep}, problems);
  put_back(sweep, *tree.find(kSweep));
  return sweep;
}

/// An axis of a zip that is alone in its part, with others of that name outside, was meant to go
/// together with these.
void require_company(const SweepPlan::Factor& factor, const std::set<std::string>& around,
                     Problems& problems) {
  if (factor.axes.size() != 1) return;
  const Axis& axis = factor.axes.front();
  if (axis.zip.empty() || around.count(axis.zip) == 0) return;
  problems.add(
      axis.source, "sweep",
      concat("sweep.", axis.key, " goes together with an axis outside of its union; ",
             "expected all axes of one zip in the same part, or another name: zip(…,name=x)"));
}

/// What a part of a union may not have again.
struct Around {
  std::map<std::string, Source> keys;
  bool repeats = false;  ///< seed is among them as `repeat`
};

class PlanReader {
 public:
  PlanReader(const Library& library, Problems& problems) : library_(library), problems_(problems) {}

  /// @param around the keys of the sweeps that this one is a part of
  SweepPlan read(const Value& specs, Around around = {}) {
    SweepPlan plan;
    if (!specs.is_map()) {
      problem(specs.source, concat("sweep has ", describe(specs),
                                   " in a union; expected maps of keys to values"));
      return plan;
    }
    for (const Value::Entry& entry : specs.entries()) {
      if (entry.key == kUnion || entry.value.is_null()) continue;
      if (entry.key == kWhere) {
        plan.where = read_conditions(entry.value, problems_);
      } else if (entry.key == kExclude) {
        plan.exclude = read_exclusions(entry.value, library_, problems_);
      } else {
        add_axis(plan, entry, around);
      }
    }
    add_union(plan, specs, around);
    return plan;
  }

 private:
  void problem(const Source& source, std::string message) {
    problems_.add(source, "sweep", std::move(message));
  }

  void add_axis(SweepPlan& plan, const Value::Entry& entry, Around& around) {
    Axis axis;
    axis.key = entry.key == kRepeat ? kRepeated : entry.key;
    axis.group = library_.has_group(group_of(axis.key));
    axis.source = entry.source;
    if (entry.key == kRepeat) {
      if (!entry.value.is_int() || entry.value.as_int() < 1 || entry.value.as_int() > 100'000) {
        return problem(entry.value.source, concat("sweep.repeat is ", describe(entry.value),
                                                  "; expected a whole number from 1 to 100000"));
      }
      axis.values = expand_range(Value(0), entry.value, Value(1));
      for (Value& value : axis.values) set_source(value, entry.value.source);
    } else {
      const auto options = options_of(axis.key, library_);
      axis.values = expand_axis(entry.key, entry.value, options, problems_);
      axis.zip = zip_of(entry.value);
    }
    if (const auto [other, is_new] = around.keys.emplace(axis.key, entry.source); !is_new) {
      const bool by_repeat = axis.key == kRepeated && (entry.key == kRepeat || around.repeats);
      const bool is_elsewhere = other->second.file != entry.source.file;
      return problem(
          entry.source,
          concat("sweep has ", axis.key, " twice", by_repeat ? " (repeat is an axis of it)" : "",
                 is_elsewhere ? concat(", here and at ", other->second.text()) : "",
                 "; to take one away set it to null",
                 is_elsewhere ? ", a whole union with union: null" : ""));
    }
    around.repeats = around.repeats || entry.key == kRepeat;
    if (axis.values.empty()) return;
    const auto same_zip = std::find_if(
        plan.factors.begin(), plan.factors.end(), [&](const SweepPlan::Factor& factor) {
          return !axis.zip.empty() && !factor.axes.empty() && factor.axes[0].zip == axis.zip;
        });
    if (same_zip == plan.factors.end()) {
      plan.factors.push_back({{std::move(axis)}, {}});
    } else {
      same_zip->axes.push_back(std::move(axis));
    }
  }

  /// The union stands where it is written among the axes.
  void add_union(SweepPlan& plan, const Value& specs, const Around& around) {
    const Value* parts = specs.find(kUnion);
    if (!parts || parts->is_null()) return;
    if (!parts->is_list() || parts->items().empty()) {
      return problem(parts->source,
                     concat("sweep.union is ", parts->is_list() ? "empty" : describe(*parts),
                            "; expected a list of sweeps"));
    }
    SweepPlan::Factor factor;
    for (const Value& part : parts->items()) factor.parts.push_back(read(part, around));
    const auto before = std::count_if(
        plan.factors.begin(), plan.factors.end(), [&](const SweepPlan::Factor& other) {
          return position(specs, other.axes[0].key) < position(specs, kUnion);
        });
    plan.factors.insert(plan.factors.begin() + before, std::move(factor));
  }

  static std::size_t position(const Value& specs, std::string_view key) {
    const auto& entries = specs.entries();
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const Value::Entry& entry) {
      return entry.key == key || (entry.key == kRepeat && key == kRepeated);
    });
    return static_cast<std::size_t>(at - entries.begin());
  }

  const Library& library_;
  Problems& problems_;
};

/// Keeps the values of axes that go together where one of them has one of `wanted`.
void narrow(SweepPlan::Factor& factor, const Axis& by, const Axis& wanted, Problems& problems) {
  std::vector<std::size_t> kept;
  for (const Value& value : wanted.values) {
    const auto at = std::find(by.values.begin(), by.values.end(), value);
    if (at != by.values.end()) {
      kept.push_back(static_cast<std::size_t>(at - by.values.begin()));
      continue;
    }
    std::vector<std::string> labels, others;
    for (const Value& known : by.values) labels.push_back(label_of(known));
    for (const Axis& axis : factor.axes) {
      if (&axis != &by) others.push_back(axis.key);
    }
    problems.add(wanted.source, by.key,
                 concat(by.key, " goes together with ", join(others), "; expected some of ",
                        join(labels), ", or zip(…) for all of them"));
    return;
  }
  for (Axis& axis : factor.axes) {
    std::vector<Value> values;
    for (const std::size_t i : kept) {
      if (i < axis.values.size()) values.push_back(axis.values[i]);
    }
    axis.values = std::move(values);
  }
}

// Puts axes of one zip together, and others apart.
void regroup_zips(SweepPlan& plan) {
  std::vector<SweepPlan::Factor> factors;
  for (SweepPlan::Factor& factor : plan.factors) {
    for (SweepPlan& part : factor.parts) regroup_zips(part);
    if (factor.axes.empty()) {
      factors.push_back(std::move(factor));
      continue;
    }
    for (Axis& axis : factor.axes) {
      const auto same = std::find_if(factors.begin(), factors.end(), [&](const auto& other) {
        return !axis.zip.empty() && !other.axes.empty() && other.axes[0].zip == axis.zip;
      });
      if (same == factors.end()) {
        factors.push_back({{std::move(axis)}, {}});
      } else {
        same->axes.push_back(std::move(axis));
      }
    }
  }
  plan.factors = std::move(factors);
}

bool replace_within(SweepPlan& plan, const Axis& axis, Problems& problems) {
  bool found = false;
  for (SweepPlan::Factor& factor : plan.factors) {
    for (SweepPlan& part : factor.parts) found = replace_within(part, axis, problems) || found;
    const auto old = std::find_if(factor.axes.begin(), factor.axes.end(),
                                  [&](const Axis& candidate) { return candidate.key == axis.key; });
    if (old == factor.axes.end()) continue;
    found = true;
    if (factor.axes.size() > 1 && axis.zip.empty()) {
      narrow(factor, *old, axis, problems);
    } else {
      *old = axis;
    }
  }
  return found;
}

}  // namespace

SweepPlan read_sweep(const Value& study, const Library& library, Problems& problems) {
  const Value* sweep = study.find("sweep");
  if (!sweep || sweep->is_null()) return {};
  if (sweep->is_scalar()) {
    problems.add(sweep->source, "sweep",
                 concat("sweep is ", describe(*sweep), "; expected a map of keys to values"));
    return {};
  }
  return PlanReader(library, problems).read(resolved_specs(study, problems));
}

void union_from_list(Value& tree, const std::string& key, const Value& over) {
  Value* sweep = key == kSweep ? tree.find(kSweep) : nullptr;
  if (sweep == nullptr || !sweep->is_list()) return;
  for (const Value& part : sweep->items()) {  // other values of the same axes are another sweep
    for (const Value::Entry& entry : over.entries()) {
      const bool is_seed = entry.key == kRepeated || entry.key == kRepeat;  // fewer seeds are not
      if (entry.key == kUnion || (!is_seed && part.find(entry.key) != nullptr)) return;
    }
  }
  Value map = Value::map();
  map.source = sweep->source;
  map.set(kUnion, std::move(*sweep), map.source);
  *sweep = std::move(map);
}

void replace_axis(SweepPlan& plan, Axis axis, Problems& problems) {
  if (!replace_within(plan, axis, problems)) plan.factors.push_back({{std::move(axis)}, {}});
  regroup_zips(plan);
}

void check_zips(const SweepPlan& plan, Problems& problems, std::set<std::string> around) {
  for (const SweepPlan::Factor& factor : plan.factors) require_company(factor, around, problems);
  for (const SweepPlan::Factor& factor : plan.factors) {
    if (!factor.axes.empty()) around.insert(factor.axes[0].zip);
  }
  for (const SweepPlan::Factor& factor : plan.factors) {
    for (const Axis& axis : factor.axes) {
      const Axis& first = factor.axes.front();
      if (axis.values.size() == first.values.size()) continue;
      problems.add(
          axis.source, "sweep",
          concat("sweep.", axis.key, " has ", axis.values.size(), " values and goes together with ",
                 first.key, ", which has ", first.values.size()));
    }
    for (const SweepPlan& part : factor.parts) check_zips(part, problems, around);
  }
}

void for_each_axis(SweepPlan& plan, const std::function<void(Axis&)>& visit) {
  for (SweepPlan::Factor& factor : plan.factors) {
    for (Axis& axis : factor.axes) visit(axis);
    for (SweepPlan& part : factor.parts) for_each_axis(part, visit);
  }
}

const Axis* find_axis(const SweepPlan& plan, const std::string& key) {
  const Axis* found = nullptr;
  for_each_axis(const_cast<SweepPlan&>(plan), [&](const Axis& axis) {
    if (!found && axis.key == key) found = &axis;
  });
  return found;
}

bool is_everywhere(const SweepPlan& plan, const std::string& key) {
  return std::any_of(plan.factors.begin(), plan.factors.end(), [&](const auto& factor) {
    const auto has = [&](const Axis& axis) { return axis.key == key; };
    const auto is_in = [&](const SweepPlan& part) { return is_everywhere(part, key); };
    return std::any_of(factor.axes.begin(), factor.axes.end(), has) ||
           (!factor.parts.empty() && std::all_of(factor.parts.begin(), factor.parts.end(), is_in));
  });
}

bool has_union(const SweepPlan& plan) {
  return std::any_of(plan.factors.begin(), plan.factors.end(),
                     [](const SweepPlan::Factor& factor) { return !factor.parts.empty(); });
}

void drop_empty(SweepPlan& plan) {
  for (SweepPlan::Factor& factor : plan.factors) {
    std::erase_if(factor.axes, [](const Axis& axis) { return axis.values.empty(); });
    std::size_t shortest = SIZE_MAX;
    for (const Axis& axis : factor.axes) shortest = std::min(shortest, axis.values.size());
    for (Axis& axis : factor.axes) axis.values.resize(shortest);
    for (SweepPlan& part : factor.parts) drop_empty(part);
  }
  std::erase_if(plan.factors, [](const SweepPlan::Factor& factor) {
    return factor.axes.empty() && factor.parts.empty();
  });
}

std::size_t count_points(const SweepPlan& plan, std::size_t limit) {
  std::size_t points = 1;
  for (const SweepPlan::Factor& factor : plan.factors) {
    std::size_t choices = factor.axes.empty() ? 0 : factor.axes[0].values.size();
    for (const SweepPlan& part : factor.parts) {
      choices = std::min(choices + count_points(part, limit), limit);
    }
    points = std::min(points * choices, limit);
  }
  return points;
}

std::vector<PlannedPoint> expand(const SweepPlan& plan) {
  std::vector<PlannedPoint> points{{}};
  if (!plan.where.empty() || !plan.exclude.empty()) points[0].plans.push_back(&plan);
  for (const SweepPlan::Factor& factor : plan.factors) {
    std::vector<PlannedPoint> choices;
    for (std::size_t i = 0; !factor.axes.empty() && i < factor.axes[0].values.size(); ++i) {
      choices.emplace_back();
      for (const Axis& axis : factor.axes)
        choices.back().values.emplace_back(&axis, &axis.values[i]);
    }
    for (const SweepPlan& part : factor.parts) {
      auto more = expand(part);
      std::move(more.begin(), more.end(), std::back_inserter(choices));
    }
    std::vector<PlannedPoint> longer;
    longer.reserve(points.size() * choices.size());
    for (const PlannedPoint& point : points) {
      for (const PlannedPoint& choice : choices) {
        longer.push_back(point);
        auto& [values, plans] = longer.back();
        values.insert(values.end(), choice.values.begin(), choice.values.end());
        plans.insert(plans.end(), choice.plans.begin(), choice.plans.end());
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace difflab::config
