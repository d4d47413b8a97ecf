#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace difflab {

/// JSON whose keys keep the order in which they were written, so that equal runs give equal bytes.
using Json = nlohmann::ordered_json;

/// The JSON as text, which must be UTF-8: other bytes are replaced by U+FFFD.
inline std::string dump_readable(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

/// The text as JSON, with other bytes replaced in the same way.
inline Json readable_json(const std::string& text) {
  return Json::parse(dump_readable(Json(text)));
}

/// The string under a key; empty if there is none.
inline std::string string_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? "" : found->get<std::string>();
}

/// The list under a key; an empty one if there is none.
inline const Json& list_at(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  return found == object.end() || !found->is_array() ? kNone : *found;
}

/// The object under a key; an empty one if there is none.
inline const Json& object_at(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  const auto found = object.find(key);
  return found == object.end() || !found->is_object() ? kNone : *found;
}

}  // namespace difflab
