#include "config/grid/sweep_plan.h"

#include <algorithm>
#include <map>

#include "config/grid/axes.h"
#include "config/interpolate/interpolate.h"
#include "config/interpolate/interpolation_text.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::string_view kUnion = "union", kWhere = "where", kExclude = "exclude",
                           kRepeat = "repeat";
constexpr const char* kSweep = "sweep";
constexpr const char* kRepeated = "seed";  ///< the axis that `repeat: 3` stands for

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
               has_interpolation(canonical_json(entry.value))) {
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

/// Keys of the sweeps around a part of a union, which it may not have again.
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
    std::size_t before_union = 0;
    for (const Value::Entry& entry : specs.entries()) {
      if (entry.key == kUnion) before_union = plan.factors.size();
      if (entry.key == kUnion || entry.value.is_null()) continue;
      if (entry.key == kWhere) {
        plan.where = read_conditions(entry.value, problems_);
      } else if (entry.key == kExclude) {
        plan.exclude = read_exclusions(entry.value, library_, problems_);
      } else {
        add_axis(plan, entry, around);
      }
    }
    add_union(plan, specs, around, before_union);
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
      name_options(axis);
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
    plan.factors.push_back({std::move(axis), {}});
  }

  /// The union stands where it is written among the axes.
  void add_union(SweepPlan& plan, const Value& specs, const Around& around, std::size_t before) {
    const Value* parts = specs.find(kUnion);
    if (!parts || parts->is_null()) return;
    if (!parts->is_list() || parts->items().empty()) {
      return problem(parts->source,
                     concat("sweep.union is ", parts->is_list() ? "empty" : describe(*parts),
                            "; expected a list of sweeps"));
    }
    SweepPlan::Factor factor;
    for (const Value& part : parts->items()) factor.parts.push_back(read(part, around));
    const auto place = plan.factors.begin() + static_cast<std::ptrdiff_t>(before);
    plan.factors.insert(place, std::move(factor));
  }

  const Library& library_;
  Problems& problems_;
};

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
  Value map = Value::map(sweep->source);
  map.set(kUnion, std::move(*sweep), map.source);
  *sweep = std::move(map);
}

void replace_axis(SweepPlan& plan, Axis axis) {
  bool is_new = true;
  for_each_axis(plan, [&](Axis& own) {
    if (own.key != axis.key) return;
    own = axis;
    is_new = false;
  });
  if (is_new) plan.factors.push_back({std::move(axis), {}});
}

void for_each_axis(SweepPlan& plan, const std::function<void(Axis&)>& visit) {
  for (SweepPlan::Factor& factor : plan.factors) {
    if (factor.axis) visit(*factor.axis);
    for (SweepPlan& part : factor.parts) for_each_axis(part, visit);
  }
}

const Axis* find_axis(SweepPlan& plan, const std::string& key) {
  const Axis* found = nullptr;
  for_each_axis(plan, [&](const Axis& axis) {
    if (!found && axis.key == key) found = &axis;
  });
  return found;
}

bool is_everywhere(const SweepPlan& plan, const std::string& key) {
  return std::ranges::any_of(plan.factors, [&](const auto& factor) {
    const auto is_in = [&](const SweepPlan& part) { return is_everywhere(part, key); };
    return (factor.axis && factor.axis->key == key) ||
           (!factor.parts.empty() && std::ranges::all_of(factor.parts, is_in));
  });
}

bool has_union(const SweepPlan& plan) {
  return std::ranges::any_of(plan.factors,
                             [](const SweepPlan::Factor& factor) { return !factor.parts.empty(); });
}

void drop_empty(SweepPlan& plan) {
  for (SweepPlan::Factor& factor : plan.factors) {
    if (factor.axis && factor.axis->values.empty()) factor.axis.reset();
    for (SweepPlan& part : factor.parts) drop_empty(part);
  }
  std::erase_if(plan.factors, [](const SweepPlan::Factor& factor) {
    return !factor.axis && factor.parts.empty();
  });
}

std::size_t count_points(const SweepPlan& plan, std::size_t limit) {
  std::size_t points = 1;
  for (const SweepPlan::Factor& factor : plan.factors) {
    std::size_t choices = factor.axis ? factor.axis->values.size() : 0;
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
    if (factor.axis) {
      for (const Value& value : factor.axis->values) {
        choices.emplace_back().values.emplace_back(&*factor.axis, &value);
      }
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
