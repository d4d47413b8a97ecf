#include "config/grid/axes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "config/compose/compose.h"
#include "config/compose/default_item.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

/// A text that is the same for values that mean the same to a key: 1, 1.0 and '1', but not '01'.
std::string meaning(const Value& value) {
  if (value.is_string() || value.is_int()) return value.as_string();
  if (!value.is_number()) return canonical_json(value);
  const double number = value.as_double();
  const bool is_whole = number == std::floor(number) && std::abs(number) < 1e15;
  return is_whole ? concat(static_cast<std::int64_t>(number)) : number_text(number);
}

}  // namespace

std::string group_of(const std::string& axis_key) { return axis_key.substr(0, axis_key.find('@')); }

std::vector<std::string> options_of(const std::string& axis_key, const Library& library) {
  const std::string group = group_of(axis_key);
  return library.has_group(group) ? library.options(group) : std::vector<std::string>();
}

void name_options(Axis& axis) {
  for (Value& value : axis.values) {
    if (!axis.group || !value.is_string()) continue;
    Value name(option_name(value.as_string()));
    name.source = value.source;
    value = std::move(name);
  }
}

std::string axis_key(const Override& item) {
  return item.package ? concat(item.key, "@", *item.package) : item.key;
}

std::optional<Axis> axis_of(const Override& item, const Library& library, Problems& problems) {
  Axis axis;
  axis.key = axis_key(item);
  axis.group = library.has_group(item.key);
  axis.appended = item.type == Override::Type::kAdd;
  axis.source = item.source;
  try {
    if (item.type == Override::Type::kDelete) throw UserError("a sweep cannot be deleted");
    if (item.extends) throw UserError("an axis cannot be extended; expected all of its values");
    for (const Element& element : expand_sweep(*item.value, options_of(axis.key, library))) {
      axis.values.push_back(to_value(element));
      set_source(axis.values.back(), item.source);
    }
    name_options(axis);
    if (axis.values.empty()) throw UserError("the sweep has no values");
  } catch (const UserError& error) {
    problems.add(item.source, axis.key, error.what());
    return std::nullopt;
  }
  return axis;
}

void check_values(const Axis& axis, const Library& library, Problems& problems) {
  const std::string group = group_of(axis.key);
  const auto options = options_of(axis.key, library);
  const std::string path = concat("sweep.", axis.key);
  std::set<std::string> seen;
  for (const Value& value : axis.values) {
    if (axis.group && !value.is_scalar()) {
      problems.add(
          value.source, path,
          concat(path, " has ", describe(value), "; expected names of options of ", group));
    } else if (axis.group && !is_among(value.as_string(), options)) {
      problems.add(value.source, path,
                   concat("config group ", group, " has no option ", value.as_string(),
                          suggestion(value.as_string(), options)));
    }
    if (!seen.insert(axis.group ? canonical_json(value) : meaning(value)).second) {
      problems.add(value.source, path, concat(path, " has ", label_of(value), " twice"));
    }
  }
}

Override override_of(const Axis& axis, const Value& value) {
  Override item;
  item.type = !axis.group     ? Override::Type::kForceAdd
              : axis.appended ? Override::Type::kAdd
                              : Override::Type::kChange;
  const auto at = axis.key.find('@');
  item.key = axis.key.substr(0, at);
  if (at != std::string::npos) item.package = axis.key.substr(at + 1);
  item.value = Element{value};
  item.text = concat(axis.key, "=", label_of(value));
  item.source = value.source;
  return item;
}

std::string label_of(const Value& value) {
  return value.is_scalar() ? value.as_string() : canonical_json(value);
}

bool meets(const Override& item, std::string_view key) {
  const auto own = key_parts(item.key), path = key_parts(key);
  const auto common = std::min(own.size(), path.size());
  if (!std::equal(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(common), path.begin()))
    return false;
  if (own.size() >= path.size() || item.holds_sweep() || !item.value) return true;
  const Value value = item.to_value();
  const Value* node = &value;
  for (auto i = common; i < path.size(); ++i) {
    if (!node->is_map() && !node->is_list()) return true;  // in place of all that lies there
    node = node->child(path[i]);
    if (node == nullptr) return false;
  }
  return true;
}

bool refuse_without_effect(const Override& item, SweepPlan& plan, const Library& library,
                           Problems& problems) {
  const std::size_t before = problems.reports();
  const bool is_choice = is_group_override(item, library);
  for_each_axis(plan, [&](const Axis& axis) {
    if (axis.key == axis_key(item)) {
      const bool adds = item.type == Override::Type::kAdd && !axis.group;
      if (item.type != Override::Type::kDelete && !adds) return;  // a group's: refused later
      problems.add(
          item.source, item.key,
          concat(item.key, " is swept over; ",
                 adds ? "for one value write "
                      : concat("to leave the axis out write ~sweep.", axis.key, ", for one value "),
                 axis.key, "=VALUE"));
    } else if (!axis.group && !is_choice && meets(item, axis.key)) {
      problems.add(item.source, item.key,
                   concat(item.text, " has no effect on ", axis.key,
                          ", which is swept over; for one value write ", axis.key, "=VALUE"));
    }
  });
  return problems.reports() != before;
}

void refuse_fleeting(const std::vector<FleetingUse>& uses, const std::vector<std::string>& free,
                     Problems& problems) {
  for (const FleetingUse& use : uses) {
    problems.add(
        use.source, use.path,
        concat(use.path,
               " holds the time, the number of the run or the working directory; the id of "
               "a run is made of its keys and would change each time. Expected ",
               join(free, ", "), " or a key of the experiment, such as results"));
  }
}

void refuse_for_some_runs(const Value& whole, const Value& tree,
                          const std::vector<std::string>& study_keys, Problems& problems) {
  Value there = whole, here = whole;
  if (const Value* vars = tree.find("vars")) here.set("vars", *vars);  // that study keys refer to
  Problems reported;
  auto present = study_keys;
  std::erase_if(present, [&](const std::string& key) { return whole.find(key) == nullptr; });
  if (!(here == there)) {
    interpolate(there, present, reported);
    interpolate(here, present, reported);
  }
  const auto is_same = [](const Value* a, const Value* b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
  };
  for (const std::string& key : study_keys) {
    const Value *of_all = whole.find(key), *of_some = tree.find(key);
    if (is_same(of_all, of_some) && is_same(there.find(key), here.find(key))) continue;
    problems.add(
        of_some != nullptr ? of_some->source : of_all->source, key,
        concat(key, " differs between the options that are swept over, and belongs to the ",
               "study, not to a run; expected it in the experiment's file"));
  }
}

}  // namespace difflab::config
