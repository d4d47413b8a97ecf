#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "config/schema/fields.h"
#include "config/schema/traits.h"
#include "config/value/value.h"

namespace difflab::config {

/// The config struct as a tree with every field, defaults included, `kind` first. Reading it back
/// gives the same struct.
template <class T>
Value write(T config);

/// Visits the fields of a struct and keeps them.
class Writer {
 public:
  template <class T>
  void operator()(std::string_view key, const T& value, std::string_view, Range = {}) {
    tree.set(key, write(value));
  }

  Value tree = Value::map();
};

template <class T>
Value write(T config) {
  if constexpr (std::is_same_v<T, Value>) {
    return config;
  } else if constexpr (IsOneOf<T>::value) {
    return std::visit([](const auto& kind) { return write(kind); }, config);
  } else if constexpr (IsOptional<T>::value) {
    return config ? write(*config) : Value();
  } else if constexpr (IsVector<T>::value) {
    Value items = Value::list();
    for (const auto& item : config) items.push_back(write<typename T::value_type>(item));
    return items;
  } else if constexpr (std::is_enum_v<T>) {
    return Value(name_of(config));
  } else if constexpr (CustomScalar<T> || CustomTree<T>) {
    return config.to_value();
  } else if constexpr (HasFields<T>) {
    Writer writer;
    if constexpr (requires { T::kKind; }) writer.tree.set(kind_key<T>(), Value(T::kKind));
    config.visit_fields(writer);
    return std::move(writer.tree);
  } else {
    return Value(config);
  }
}

}  // namespace difflab::config
