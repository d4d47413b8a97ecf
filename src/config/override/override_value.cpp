#include "config/override/override_value.h"

#include <algorithm>
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
  const auto* items = std::get_if<std::vector<Element>>(&element.data);
  const auto* dict = std::get_if<Dict>(&element.data);
  return element.is_sweep() ||
         (items && std::any_of(items->begin(), items->end(), contains_sweep)) ||
         (dict && std::any_of(dict->entries.begin(), dict->entries.end(),
                              [](const Dict::Entry& e) { return contains_sweep(e.value); }));
}

}  // namespace difflab::config
