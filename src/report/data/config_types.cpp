#include "report/data/config_types.h"

#include "config/value/value.h"
#include "report/data/frame.h"

namespace difflab::report {

std::optional<std::string> TextMap::find(std::string_view name) const {
  for (const auto& [key, text] : entries) {
    if (key == name) return text;
  }
  return std::nullopt;
}

std::optional<TextMap> TextMap::from_value(const config::Value& value) {
  if (!value.is_map()) return std::nullopt;
  TextMap map;
  for (const auto& entry : value.entries()) {
    if (!entry.value.is_scalar() || entry.value.is_null()) return std::nullopt;
    map.entries.emplace_back(entry.key, entry.value.as_string());
  }
  return map;
}

config::Value TextMap::to_value() const {
  config::Value value = config::Value::map();
  for (const auto& [key, text] : entries) value.set(key, config::Value(text));
  return value;
}

std::optional<NameList> NameList::from_value(const config::Value& value) {
  if (value.is_string()) return NameList{{value.as_string()}};
  if (!value.is_list()) return std::nullopt;
  NameList list;
  for (const config::Value& item : value.items()) {
    if (!item.is_string()) return std::nullopt;
    list.names.push_back(item.as_string());
  }
  return list;
}

config::Value NameList::to_value() const {
  if (names.size() == 1) return config::Value(names[0]);
  config::Value value = config::Value::list();
  for (const std::string& name : names) value.push_back(config::Value(name));
  return value;
}

std::optional<Share> Share::from_value(const config::Value& value) {
  if (!value.is_scalar() || value.is_null()) return std::nullopt;
  std::string text = value.as_string();
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.erase(text.find_last_not_of(" %") + 1);
  const auto number = parse_number(text);
  const double share = number.value_or(-1) / (is_percent ? 100 : 1);
  return share >= 0 && share < 1 ? std::optional(Share{share}) : std::nullopt;
}

config::Value Share::to_value() const { return config::Value(value); }

void TimesConfig::validate(config::Check& check) const {
  if (margin.value > 0 && compare == Compared::kDifferences) {
    check.problem("margin", "is given without compare: ratios; expected that, or a claim's margin");
  }
}

}  // namespace difflab::report
