#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab {

/// How a model is computed. Both are the same function; they differ in the last bits, in speed and
/// in memory.
enum class Kernels {
  kPlain,  ///< library operations, the formulas as they are written, with maps [T, T]
  kFused,  ///< on the CPU our own kernels (src/kernel) for attention, which stores nothing T × T,
           ///< projections, norms, rotary positions, SwiGLU and the loss; elsewhere the library's
           ///< scaled_dot_product_attention, and its plain operations for the rest
};

template <>
struct config::EnumNames<Kernels> {
  static constexpr std::array<std::pair<std::string_view, Kernels>, 2> kNames{{
      {"plain", Kernels::kPlain},
      {"fused", Kernels::kFused},
  }};
};

}  // namespace difflab
