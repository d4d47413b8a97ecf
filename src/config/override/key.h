#pragma once

#include <string_view>

#include "config/override/override.h"

namespace difflab::config {

/// Reads what stands before the = of an override, prefix, key and package, into `result`, and
/// returns the byte behind it. @throws SyntaxError
std::size_t parse_override_key(std::string_view text, Override& result);

}  // namespace difflab::config
