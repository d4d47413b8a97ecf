#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab {

/// What is done to each head's output before the heads are joined.
enum class HeadNormKind {
  kNone,
  kRms,  ///< RMSNorm over the head's channels, gain shared by the heads ("GroupNorm" in the paper)
  kGroup,  ///< mean removed as well, gain and bias shared by the heads (a GroupNorm would have one
           ///< per channel)
};

template <>
struct config::EnumNames<HeadNormKind> {
  static constexpr std::array<std::pair<std::string_view, HeadNormKind>, 3> kNames{{
      {"none", HeadNormKind::kNone},
      {"rms", HeadNormKind::kRms},
      {"group", HeadNormKind::kGroup},
  }};
};

}  // namespace difflab
