#pragma once

#include <span>
#include <string_view>

namespace difflab {

/// Cities that needles are about: distinct names of letters and blanks.
std::span<const std::string_view> city_names();

}  // namespace difflab
