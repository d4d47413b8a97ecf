#include "config/override/override_value.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "config/override/functions.h"
#include "config/override/override.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::size_t kMaxRange = 100'000;

/// How many digits after the point a number has when it is written as short as possible.
int decimals(const Value& number) {
  if (number.is_int()) return 0;
  const std::string text = number_text(number.as_double());
  const auto exponent_at = text.find('e');
  const int exponent = exponent_at == text.npos ? 0 : std::atoi(text.c_str() + exponent_at + 1);
  const auto point = text.find('.');
  const auto end = std::min(exponent_at, text.size());
  const int fraction = point == text.npos ? 0 : static_cast<int>(end - point) - 1;
  return std::max(0, fraction - exponent);
}

double rounded_to(long double number, int digits) {
  char text[512];
  const int length = std::snprintf(text, sizeof text, "%.*Lf", digits, number);
  const bool fits = length > 0 && length < static_cast<int>(sizeof text);
  return fits ? std::strtod(text, nullptr) : static_cast<double>(number);
}

std::vector<Value> whole_range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  std::vector<Value> values;
  for (std::int64_t value = start; step > 0 ? value < stop : value > stop;) {
    values.emplace_back(value);
    if (values.size() > kMaxRange) throw UserError("range() has more than 100,000 numbers");
    if (__builtin_add_overflow(value, step, &value)) break;
  }
  return values;
}

std::vector<Element> in_order(std::vector<Element> items, bool shuffle) {
  if (shuffle) shuffle_in_place(items);
  return items;
}

bool matches(const std::string& name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

std::vector<Element> expand_glob(const GlobSweep& glob, const std::vector<std::string>& options) {
  if (options.empty()) throw UserError("glob() works only on a config group; this key is none");
  std::vector<Element> names;
  for (const std::string& option : options) {
    if (matches(option, glob.include) && !matches(option, glob.exclude)) {
      names.push_back({Value(option)});
    }
  }
  if (names.empty()) throw UserError(concat("glob() matches no option; options: ", join(options)));
  return names;
}

}  // namespace

Value to_value(const Element& element) {
  if (const auto* scalar = std::get_if<Value>(&element.data)) return *scalar;
  if (const auto* quoted = std::get_if<Quoted>(&element.data)) return Value(quoted->text);
  if (const auto* items = std::get_if<std::vector<Element>>(&element.data)) {
    Value list = Value::list();
    for (const Element& item : *items) list.push_back(to_value(item));
    return list;
  }
  const auto* dict = std::get_if<Dict>(&element.data);
  if (!dict) throw std::logic_error("a sweep is no value");
  Value map = Value::map();
  for (const auto& [key, value] : dict->entries) {
    map.set(to_value(key).as_string(), to_value(value));
  }
  return map;
}

bool contains_sweep(const Element& element) {
  const auto* items = std::get_if<std::vector<Element>>(&element.data);
  const auto* dict = std::get_if<Dict>(&element.data);
  return element.is_sweep() || (items && std::ranges::any_of(*items, contains_sweep)) ||
         (dict && std::ranges::any_of(
                      dict->entries, [](const Dict::Entry& e) { return contains_sweep(e.value); }));
}

std::vector<Value> expand_range(const Value& start, const Value& stop, const Value& step) {
  if (step.as_double() == 0) throw UserError("range() has step 0");
  if (start.is_int() && stop.is_int() && step.is_int()) {
    return whole_range(start.as_int(), stop.as_int(), step.as_int());
  }
  if (!std::isfinite(start.as_double()) || !std::isfinite(stop.as_double()) ||
      !std::isfinite(step.as_double())) {
    throw UserError("range() has a limit that is not a finite number");
  }
  const int digits = std::max(decimals(start), decimals(step));
  const bool up = step.as_double() > 0;
  std::vector<Value> values;
  for (std::size_t i = 0;; ++i) {
    const long double exact = static_cast<long double>(start.as_double()) +
                              static_cast<long double>(i) * step.as_double();
    const double value = rounded_to(exact, digits);
    if (up ? value >= stop.as_double() : value <= stop.as_double()) return values;
    if (i >= kMaxRange) throw UserError("range() has more than 100,000 numbers");
    values.emplace_back(value);
  }
}

std::vector<Element> expand_sweep(const Element& sweep, const std::vector<std::string>& options) {
  if (const auto* choice = std::get_if<ChoiceSweep>(&sweep.data)) {
    for (const Element& item : choice->choices) {
      if (contains_sweep(item)) throw UserError("a sweep cannot hold another one");
    }
    return in_order(choice->choices, choice->shuffle);
  }
  if (const auto* range = std::get_if<RangeSweep>(&sweep.data)) {
    std::vector<Element> numbers;
    for (Value& number : expand_range(range->start, range->stop, range->step)) {
      numbers.push_back({std::move(number)});
    }
    return in_order(std::move(numbers), range->shuffle);
  }
  if (const auto* glob = std::get_if<GlobSweep>(&sweep.data)) return expand_glob(*glob, options);
  if (contains_sweep(sweep)) throw UserError("a list or map cannot hold a sweep");
  return {sweep};
}

std::vector<Value> expand_axis(const std::string& key, const Value& spec,
                               const std::vector<std::string>& options, Problems& problems) {
  const std::string path = concat("sweep.", key);
  std::vector<Value> values;
  if (spec.is_list()) {
    values = spec.items();
  } else if (spec.is_string()) {
    try {
      for (const Element& element : expand_sweep(parse_override_value(spec.as_string()), options)) {
        values.push_back(to_value(element));
        set_source(values.back(), spec.source);
      }
    } catch (const UserError& error) {
      const std::string text = spec.as_string();
      const bool cut = text.find('(') != std::string::npos && text.find(')') == std::string::npos;
      problems.add(
          spec.source, path,
          concat(path, ": ", error.what(),
                 cut ? " (inside { } or [ ] YAML ends a text at a comma: put it in quotes)" : ""));
      return {};
    }
  } else if (spec.is_map()) {
    problems.add(spec.source, path,
                 concat(path, " is a map; expected a list of values, a,b, choice(…) or range(…)"));
    return {};
  } else {
    values.push_back(spec);
  }
  if (values.empty()) {
    problems.add(spec.source, path, concat(path, " has no values; expected at least one"));
  }
  return values;
}

}  // namespace difflab::config
