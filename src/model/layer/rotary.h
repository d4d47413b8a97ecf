#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/layer/layer_config.h"

namespace difflab {

/// Angles of the rotary position embedding (Su et al. 2021, arXiv:2104.09864), shared by all heads.
struct Rotary {
  at::Tensor rotation;      ///< [T, d/2] complex: cos θ + i sin θ of position t and pair j
  at::Tensor cosine, sine;  ///< [T, d], the same for each channel; −sin θ for the first of a pair
  RotaryLayout layout = RotaryLayout::kInterleaved;

  /// θ(t, j) = t · base^(−2j/d), computed in float64 and rounded to `like`'s type and device.
  static Rotary table(std::int64_t tokens, std::int64_t head_dim, double base,
                      const at::Tensor& like, RotaryLayout layout = RotaryLayout::kInterleaved);
  /// From tables of cosines and sines, both [T, d/2].
  static Rotary from(const at::Tensor& cosine, const at::Tensor& sine,
                     RotaryLayout layout = RotaryLayout::kInterleaved);
  /// For models that know positions in another way: `apply` changes nothing.
  static Rotary none() { return {}; }

  /// The angles of positions begin … begin + tokens − 1.
  Rotary slice(std::int64_t begin, std::int64_t tokens) const;

  /// Turns each pair of channels by its angle; x [B, T, heads, d]. Fused, it is one pass over the
  /// numbers on the CPU.
  at::Tensor apply(const at::Tensor& x, Kernels kernels) const;
};

}  // namespace difflab
