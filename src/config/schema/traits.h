#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/schema/fields.h"
#include "config/value/value.h"

namespace difflab::config {

class Problems;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// A type with a spelling of its own, e.g. "schedule, a number or a list of numbers".
template <class T>
concept CustomScalar = requires(const T& value, const Value& tree) {
  { T::from_value(tree) } -> std::same_as<std::optional<T>>;
  { value.to_value() } -> std::same_as<Value>;
  { T::expected() } -> std::convertible_to<std::string>;
};

/// A type that reads itself, for what would be described twice if it were a field's type.
template <class T>
concept CustomTree = requires(const T& value, const Value& tree, Problems& problems) {
  { T::read_tree(tree, std::string(), problems) } -> std::same_as<T>;
  { value.to_value() } -> std::same_as<Value>;
  { T::expected() } -> std::convertible_to<std::string>;
};

/// Visits the fields of a struct and keeps their names.
struct FieldNames {
  std::vector<std::string> names;

  template <class T>
  void operator()(std::string_view key, T&, std::string_view, Range = {}) {
    names.emplace_back(key);
  }
};

/// A struct that lists its fields (fields.h).
template <class T>
concept HasFields = requires(T& config, FieldNames& visitor) {
  config.visit_fields(visitor);
};

/// The YAML key that picks a kind: "kind", or what the kinds call it (`mark` of a figure).
template <class Kind>
constexpr std::string_view kind_key() {
  if constexpr (requires { Kind::kKindKey; }) {
    return Kind::kKindKey;
  } else {
    return "kind";
  }
}

/// The name of an enumeration's value.
template <class E>
std::string name_of(E value) {
  return std::string(kNames<E>.at(static_cast<std::size_t>(value)));
}

/// All values of an enumeration, each behind its name.
template <class E>
constexpr auto named_values() {
  std::array<std::pair<std::string_view, E>, kNames<E>.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {kNames<E>[i], static_cast<E>(i)};
  return all;
}

/// The names of a struct's fields in order.
template <HasFields T>
std::vector<std::string> field_names() {
  FieldNames visitor;
  T config;
  config.visit_fields(visitor);
  return std::move(visitor.names);
}

}  // namespace difflab::config
