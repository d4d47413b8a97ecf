#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace difflab {

/// Angles of the rotary position embedding (Su et al. 2021, arXiv:2104.09864), shared by all heads.
struct Rotary {
  at::Tensor rotation;  ///< [T, d/2] complex: cos θ + i sin θ of position t and pair j

  /// θ(t, j) = t · base^(−2j/d), computed in float64 and rounded to `like`'s type and device.
  static Rotary table(std::int64_t tokens, std::int64_t head_dim, double base,
                      const at::Tensor& like);
  /// From tables of cosines and sines, both [T, d/2].
  static Rotary from(const at::Tensor& cosine, const at::Tensor& sine);

  /// Turns each pair (2j, 2j+1) of the last dimension by its angle; x [B, T, heads, d].
  at::Tensor apply(const at::Tensor& x) const;
};

}  // namespace difflab
