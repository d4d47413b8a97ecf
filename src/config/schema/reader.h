#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "config/schema/fields.h"
#include "config/schema/traits.h"
#include "config/value/problems.h"
#include "config/value/value.h"
#include "util/json.h"
#include "util/text.h"

namespace difflab::config {

/// Reads a config struct (fields.h) or any type that a field may have, and reports everything that
/// is wrong with it: unknown keys, wrong types, numbers out of range, broken rules of `validate`.
/// Wrong or absent keys keep their defaults, so the result counts only if no problem was added.
///
/// A field may be a bool, std::int64_t, double, std::string, an enumeration with kNames, a type
/// with from_value/to_value/expected, a struct with fields, a std::variant of kinds, a
/// std::optional or std::vector of those, or a Value, which takes anything.
/// @param path the dotted name of `value`, e.g. "model.attention", or "" for the root.
template <class T>
T read(const Value& value, const std::string& path, Problems& problems, Range range = {});

/// The same. @throws UserError with all problems at once.
template <class T>
T read(const Value& value, const std::string& path = "");

/// `path`.`key`, or `key` alone at the root.
std::string join_path(std::string_view path, std::string_view key);

/// Turns what `validate` finds into problems at the place of the key concerned.
class PlacedCheck : public Check {
 public:
  PlacedCheck(const Value& map, std::string path, Problems& problems)
      : map_(map), path_(std::move(path)), problems_(problems) {}
  void problem(std::string_view key, std::string_view message) override;

 protected:
  const Value& map_;
  std::string path_;
  Problems& problems_;
};

/// Visits the fields of a struct and fills them from a map.
class Reader final : public PlacedCheck {
 public:
  using PlacedCheck::PlacedCheck;

  template <class T>
  void operator()(std::string_view key, T& member, std::string_view about, Range range = {}) {
    claim(key);
    if (const Value* child = map_.find(key)) {
      member = read<T>(*child, join_path(path_, key), problems_, range);
    }
    if constexpr (std::is_same_v<T, std::string>) {
      if (member.empty() && range.low >= 1) problem(key, concat("is missing; expected: ", about));
    }
  }

  /// Lets the map hold a key that is read elsewhere, such as "kind".
  void claim(std::string_view key) { known_.emplace_back(key); }
  /// Reports the keys that nothing claimed.
  void finish() const;

 private:
  std::vector<std::string> known_;
};

/// Where `path` was written in the map, or the nearest thing around it.
const Source& nearest_source(const Value& map, std::string_view path);

/// "path is X; expected …" at the value's place.
void add_unexpected(const Value& value, const std::string& path, std::string_view expected,
                    Problems& problems);

namespace detail {

std::optional<bool> to_bool(const Value& value);
std::optional<std::int64_t> to_int(const Value& value);
std::optional<double> to_double(const Value& value);
/// "a whole number from 1 to 8" and the like.
std::string expected_number(std::string_view noun, Range range);

template <class T>
T read_number(const Value& value, const std::string& path, Range range, Problems& problems) {
  constexpr bool kWhole = std::is_integral_v<T>;
  const auto number = [&] {
    if constexpr (kWhole) {
      return to_int(value);
    } else {
      return to_double(value);
    }
  }();
  if (number && std::isfinite(static_cast<double>(*number)) &&
      static_cast<double>(*number) >= range.low && static_cast<double>(*number) <= range.high) {
    return static_cast<T>(*number);
  }
  add_unexpected(value, path, expected_number(kWhole ? "a whole number" : "a number", range),
                 problems);
  return T{};
}

template <class E>
E read_enum(const Value& value, const std::string& path, Problems& problems) {
  const std::vector<std::string> names(kNames<E>.begin(), kNames<E>.end());
  // A name may look like another type (none, off, 1); its canonical text is compared.
  const std::string text = value.is_scalar() ? value.as_string() : "";
  const auto at = std::find(names.begin(), names.end(), text);
  if (value.is_scalar() && at != names.end()) return static_cast<E>(at - names.begin());
  problems.add(value.source, path, concat(path, " is ", describe(value), suggestion(text, names)));
  return E{};
}

template <class T>
T read_struct(const Value& value, const std::string& path, Problems& problems) {
  T config;
  if (!value.is_map()) {
    add_unexpected(value, path, concat("a map with keys such as ", join(field_names<T>())),
                   problems);
    return config;
  }
  const std::size_t before = problems.reports();
  Reader reader(value, path, problems);
  if constexpr (requires { T::kKind; }) reader.claim(kind_key<T>());
  config.visit_fields(reader);
  reader.finish();
  // Rules across fields would only repeat what is already wrong with one of them.
  if constexpr (requires(const T& checked, Check& check) { checked.validate(check); }) {
    if (problems.reports() == before) std::as_const(config).validate(reader);
  }
  return config;
}

/// The map of a kind that goes by this name, with what a former name stands for; null if it does
/// not.
template <class Kind>
std::optional<Value> map_of_kind(const std::string& name, const Value& map) {
  if (name == Kind::kKind) return map;
  if constexpr (requires { Kind::kFormerNames; }) {
    for (const FormerName& former : Kind::kFormerNames) {
      if (name != former.name) continue;
      Value whole = map;
      const Json keys = Json::parse(former.keys);
      for (const auto& [key, value] : keys.items()) {
        if (map.find(key) == nullptr) whole.set(key, from_json(value));
      }
      return whole;
    }
  }
  return std::nullopt;
}

/// A map picks its kind with `kind:`; a bare name is the kind with every default.
template <class... Kinds>
std::variant<Kinds...> read_kind(const Value& value, const std::string& path, Problems& problems,
                                 std::type_identity<std::variant<Kinds...>>) {
  std::variant<Kinds...> config;
  constexpr std::string_view kKey =
      kind_key<std::variant_alternative_t<0, std::variant<Kinds...>>>();
  const Value* kind = value.is_map() ? value.find(kKey) : value.is_string() ? &value : nullptr;
  const std::vector<std::string> names{std::string(Kinds::kKind)...};
  if (!kind) {
    problems.add(value.source, path,
                 value.is_map()
                     ? concat(path, " has no ", kKey, "; expected ", kKey, ": ", join(names, " | "))
                     : concat(path, " is ", describe(value), "; expected a map with ", kKey, ": ",
                              join(names, " | ")));
    return config;
  }
  const Value defaults = Value::map(value.source);
  const Value& map = value.is_map() ? value : defaults;
  const std::string name = kind->is_scalar() ? kind->as_string() : "";
  const auto read_as = [&]<class Kind>(std::type_identity<Kind>) {
    const auto whole = map_of_kind<Kind>(name, map);
    if (whole) config = read_struct<Kind>(*whole, path, problems);
    return whole.has_value();
  };
  const bool found = (read_as(std::type_identity<Kinds>{}) || ...);
  if (!found) {
    const std::string key = value.is_map() ? join_path(path, kKey) : path;
    problems.add(kind->source, key, concat(key, " is ", describe(*kind), suggestion(name, names)));
  }
  return config;
}

}  // namespace detail

template <class T>
T read(const Value& value, const std::string& path, Problems& problems, Range range) {
  if constexpr (std::is_same_v<T, Value>) {
    return value;
  } else if constexpr (IsOneOf<T>::value) {
    return detail::read_kind(value, path, problems, std::type_identity<T>{});
  } else if constexpr (IsOptional<T>::value) {
    if (value.is_null()) return std::nullopt;
    return read<typename T::value_type>(value, path, problems, range);
  } else if constexpr (IsVector<T>::value) {
    T items;
    if (!value.is_list()) {
      add_unexpected(value, path, "a list", problems);
      return items;
    }
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      items.push_back(read<typename T::value_type>(value.items()[i], concat(path, "[", i, "]"),
                                                   problems, range));
    }
    return items;
  } else if constexpr (std::is_enum_v<T>) {
    return detail::read_enum<T>(value, path, problems);
  } else if constexpr (CustomScalar<T>) {
    if (auto custom = T::from_value(value)) return *std::move(custom);
    add_unexpected(value, path, T::expected(), problems);
    return T{};
  } else if constexpr (CustomTree<T>) {
    return T::read_tree(value, path, problems);
  } else if constexpr (HasFields<T>) {
    return detail::read_struct<T>(value, path, problems);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (const auto flag = detail::to_bool(value)) return *flag;
    add_unexpected(value, path, "true or false", problems);
    return false;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return detail::read_number<T>(value, path, range, problems);
  } else {
    static_assert(std::is_same_v<T, std::string>, "a field of this type cannot be read");
    if (value.is_scalar() && !value.is_null() && !value.is_missing()) return value.as_string();
    add_unexpected(value, path, "text", problems);
    return {};
  }
}

template <class T>
T read(const Value& value, const std::string& path) {
  Problems problems;
  T config = read<T>(value, path, problems);
  problems.throw_if_any();
  return config;
}

}  // namespace difflab::config
