#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab {

/// How a model is computed. All are the same function; they differ in the last bits, in speed and
/// in memory.
enum class Kernels {
  kPlain,  ///< library operations, the formulas as they are written, with maps [T, T]
  kFused,  ///< on the CPU our own kernels (src/kernel) for attention, which stores nothing T × T,
           ///< projections, norms, rotary positions, SwiGLU and the loss; elsewhere the library's
           ///< scaled_dot_product_attention, and its plain operations for the rest
  // As fused, but DIFF in the official forms, a call of attention for each map, whose outputs are
  // subtracted. Other kinds have one map for each head and are computed as with fused.
  kFlash1,  ///< values whole: for DIFF V1 twice as wide as queries (FlashDiff_1)
  kFlash2,  ///< values of DIFF V1 in two halves as wide as queries: twice the calls (FlashDiff_2)
};

/// Whether operations are fused, all that there is a kernel for.
constexpr bool uses_kernels(Kernels kernels) { return kernels != Kernels::kPlain; }

/// Whether DIFF is computed in an official form, a call of attention for each map.
constexpr bool calls_by_map(Kernels kernels) {
  return kernels == Kernels::kFlash1 || kernels == Kernels::kFlash2;
}

template <>
struct config::EnumNames<Kernels> {
  static constexpr std::array<std::pair<std::string_view, Kernels>, 4> kNames{{
      {"plain", Kernels::kPlain},
      {"fused", Kernels::kFused},
      {"flash_1", Kernels::kFlash1},
      {"flash_2", Kernels::kFlash2},
  }};
};

}  // namespace difflab
