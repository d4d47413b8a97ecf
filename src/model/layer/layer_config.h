#pragma once

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

/// True if operations are fused, all those that have a kernel.
constexpr bool uses_kernels(Kernels kernels) { return kernels != Kernels::kPlain; }

/// True if DIFF is computed in an official form, with a call of attention for each map.
constexpr bool calls_by_map(Kernels kernels) {
  return kernels == Kernels::kFlash1 || kernels == Kernels::kFlash2;
}

template <>
inline constexpr auto config::kNames<Kernels> = names("plain", "fused", "flash_1", "flash_2");

/// In what numbers a model multiplies. Parameters, their updates, the residual stream, norms and
/// losses are float32 in either case.
enum class Precision {
  kFloat32,
  kBfloat16,  ///< projections and attention in bfloat16, as the library's autocast does it
};

template <>
inline constexpr auto config::kNames<Precision> = names("float32", "bfloat16");

/// Which channels of a head form pair j.
enum class RotaryLayout {
  kInterleaved,  ///< 2j and 2j+1 (GPT-J, the official DIFF code)
  kHalves,       ///< j and j + d/2 (GPT-NeoX, Hugging Face)
};

template <>
inline constexpr auto config::kNames<RotaryLayout> = names("interleaved", "halves");

/// Normalisation of each head's output before the heads are joined.
enum class HeadNormKind {
  kNone,
  kRms,  ///< RMSNorm over the head's channels, gain shared by the heads ("GroupNorm" in the paper)
  kGroup,  ///< mean removed as well, gain and bias shared by the heads (a GroupNorm would have one
           ///< per channel)
};

template <>
inline constexpr auto config::kNames<HeadNormKind> = names("none", "rms", "group");

}  // namespace difflab
