#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/fields.h"

namespace difflab {

/// How attention is computed. Both are the same function; they differ in the last bits, in speed
/// and in memory.
enum class Kernels {
  kPlain,  ///< maps [T, T] from library operations, the formulas as they are written
  kFused,  ///< our own kernels on the CPU (src/kernel), nothing T × T stored; elsewhere plain
};

template <>
struct config::EnumNames<Kernels> {
  static constexpr std::array<std::pair<std::string_view, Kernels>, 2> kNames{{
      {"plain", Kernels::kPlain},
      {"fused", Kernels::kFused},
  }};
};

}  // namespace difflab
