#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab {

/// Which channels of a head form pair j.
enum class RotaryLayout {
  kInterleaved,  ///< 2j and 2j+1 (GPT-J, the official DIFF code)
  kHalves,       ///< j and j + d/2 (GPT-NeoX, Hugging Face)
};

template <>
struct config::EnumNames<RotaryLayout> {
  static constexpr std::array<std::pair<std::string_view, RotaryLayout>, 2> kNames{{
      {"interleaved", RotaryLayout::kInterleaved},
      {"halves", RotaryLayout::kHalves},
  }};
};

}  // namespace difflab
