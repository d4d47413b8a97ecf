#pragma once

#include <ATen/core/Tensor.h>

namespace difflab {

/// Which weights [B, H, T_q, T] are at least `threshold` of the largest size in their row: true at
/// those, and nowhere behind the query's own position, the queries being those of the last T_q
/// positions. At threshold 0 all others are true.
at::Tensor largest_weights(const at::Tensor& weights, double threshold);

/// The weights that are kept, 0 elsewhere. Renormalised, what is kept of a row is scaled to the sum
/// of sizes that the whole row had.
at::Tensor prune(const at::Tensor& weights, const at::Tensor& kept, bool renormalise);

}  // namespace difflab
