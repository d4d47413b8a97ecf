#pragma once

#include <string_view>

namespace difflab::fuzz {

/// What fuzzers and the test of their corpus feed with bytes. An exception that is no UserError, or
/// a property that does not hold, ends the process.

/// Override grammar: parsing, the JSON answer, expansion of sweeps.
void fuzz_override(std::string_view bytes);
/// YAML reader: what it accepts is written and read again as an equal tree.
void fuzz_yaml(std::string_view bytes);
/// Interpolations of a tree and the expressions in them; without a colon, an expression alone.
void fuzz_interpolation(std::string_view bytes);

}  // namespace difflab::fuzz
