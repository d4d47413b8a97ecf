#pragma once

#include <string>
#include <string_view>

#include "config/value/value.h"

namespace difflab::config {

/// Text that may be parsed: without byte order mark and with \n line ends.
/// @throws UserError "name:line:column: …" for bytes that are no UTF-8 and for control characters
std::string normalised_text(std::string_view bytes, const std::string& name);

/// True if somebody forgot to close the quote that opens a YAML scalar at byte `begin`: nothing
/// closes it, or it takes in a line that begins with a key or `- ` no further right than the
/// scalar's own key, at `column`. YAML wants the lines of a quoted text further right.
bool is_left_open(std::string_view text, std::size_t begin, int column);

/// The number of bytes of the UTF-8 character at the front, 0 if it is malformed.
std::size_t utf8_length(std::string_view text);

}  // namespace difflab::config
