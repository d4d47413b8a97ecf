#include "evaluate/heads/prune.h"

#include <ATen/ATen.h>

#include <limits>

namespace difflab {

at::Tensor largest_weights(const at::Tensor& weights, double threshold) {
  // In bfloat16, weights near the threshold would all be alike.
  const auto sizes = weights.abs().to(at::promote_types(weights.scalar_type(), at::kFloat));
  const auto large = sizes >= sizes.amax(-1, true) * threshold;
  return large.tril(weights.size(-1) - weights.size(-2));
}

at::Tensor prune(const at::Tensor& weights, const at::Tensor& kept, bool renormalise) {
  const auto left = weights.masked_fill(kept.logical_not(), 0);
  if (!renormalise) return left;
  const auto smallest = std::numeric_limits<float>::min();
  return left * (weights.abs().sum(-1, true) / left.abs().sum(-1, true).clamp_min(smallest));
}

}  // namespace difflab
