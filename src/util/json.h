#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace difflab {

/// JSON whose keys keep the order in which they were written, so that equal runs give equal bytes.
using Json = nlohmann::ordered_json;

/// The text as JSON, which must be UTF-8: other bytes are replaced by U+FFFD.
inline Json readable_json(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace difflab
