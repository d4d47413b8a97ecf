#include "config/override/override_value.h"

#include <stdexcept>

namespace difflab::config {

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
  if (element.is_sweep()) return true;
  if (const auto* items = std::get_if<std::vector<Element>>(&element.data)) {
    for (const Element& item : *items) {
      if (contains_sweep(item)) return true;
    }
  }
  if (const auto* dict = std::get_if<Dict>(&element.data)) {
    for (const auto& entry : dict->entries) {
      if (contains_sweep(entry.value)) return true;
    }
  }
  return false;
}

}  // namespace difflab::config
