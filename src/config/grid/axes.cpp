#include "config/grid/axes.h"

#include <cmath>
#include <set>

#include "config/compose/default_item.h"
#include "config/value/canonical.h"
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

}  // namespace difflab::config
