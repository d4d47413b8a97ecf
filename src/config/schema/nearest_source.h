#pragma once

#include <string_view>

#include "config/value/value.h"

namespace difflab::config {

/// Where `path` was written in the map, or the nearest thing around it.
const Source& nearest_source(const Value& map, std::string_view path);

}  // namespace difflab::config
