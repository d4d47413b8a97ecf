#pragma once

#include <ATen/ATen.h>

#include <limits>

namespace difflab {

/// Which weights [B, H, T_q, T] are at least `threshold` of the largest size in their row: true at
/// those, and nowhere behind the query's own position, the queries being those of the last T_q
/// positions. At threshold 0 all others are true.
inline at::Tensor largest_weights(const at::Tensor& weights, double threshold) {
  // In bfloat16, weights near the threshold would all be alike.
  const auto sizes = weights.abs().to(at::promote_types(weights.scalar_type(), at::kFloat));
  const auto large = sizes >= sizes.amax(-1, true) * threshold;
  return large.tril(weights.size(-1) - weights.size(-2));
}

/// The weights that are kept, 0 elsewhere. Renormalised, what is kept of a row is scaled to the sum
/// of sizes that the whole row had.
inline at::Tensor prune(const at::Tensor& weights, const at::Tensor& kept, bool renormalise) {
  const auto left = weights.masked_fill(kept.logical_not(), 0);
  if (!renormalise) return left;
  const auto smallest = std::numeric_limits<float>::min();
  return left * (weights.abs().sum(-1, true) / left.abs().sum(-1, true).clamp_min(smallest));
}

}  // namespace difflab
