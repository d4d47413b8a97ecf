#pragma once

#include <optional>
#include <string_view>

#include "config/value/value.h"

namespace difflab::config {

/// Value of a plain (unquoted) YAML scalar, typed as by Hydra's loader: null and ~, true and false,
/// 1_000, 0x1F, 0b11, 3e-3, .inf, .nan; everything else is text. Unlike there, yes, no, on and off,
/// numbers with leading zeros (017) and in base sixty (10:30) are text.
/// Nothing for a whole number that does not fit 64 bits.
std::optional<Value> plain_scalar(std::string_view text);

/// How many characters at the front are digits with single _ between them.
std::size_t digits_length(std::string_view text);

/// The number that a text spells: decimal digits with _ between them, perhaps a sign.
std::optional<std::int64_t> parse_int(std::string_view text);
/// The number that a text spells, e.g. "1e-3", with _ between digits. Not "inf" or "nan".
std::optional<double> parse_float(std::string_view text);

}  // namespace difflab::config
