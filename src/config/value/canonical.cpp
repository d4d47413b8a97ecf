#include "config/value/canonical.h"

#include <cmath>
#include <map>

#include "util/text.h"

namespace difflab::config {

std::string canonical_json(const Value& value) {
  const auto quoted = [](const std::string& text) { return Json(text).dump(); };
  const double number = value.is_double() ? value.as_double() : 0;
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  if (value.is_string()) return quoted(value.as_string());
  if (value.is_scalar()) return value.as_string();
  std::vector<std::string> parts;
  for (const Value& item : value.items()) parts.push_back(canonical_json(item));
  if (value.is_list()) return concat("[", join(parts, ","), "]");
  std::map<std::string_view, std::string> sorted;
  for (const Value::Entry& entry : value.entries()) {
    sorted.emplace(entry.key, concat(quoted(entry.key), ":", canonical_json(entry.value)));
  }
  for (auto& entry : sorted) parts.push_back(std::move(entry.second));
  return concat("{", join(parts, ","), "}");
}

}  // namespace difflab::config
