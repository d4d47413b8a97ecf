#pragma once

#include <string>
#include <string_view>

#include "util/text.h"

namespace difflab {

/// A word as a POSIX shell reads it back, and as a person can paste it into one.
inline std::string quoted_for_shell(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";
  if (text.find_first_not_of(kPlain) == text.npos) return std::string(text);
  return concat("'", join(split(text, '\''), "'\\''"), "'");
}

}  // namespace difflab
