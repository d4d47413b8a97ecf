#pragma once

#include <ATen/core/Tensor.h>

namespace difflab::kernel {

/// True if the functions below can take x: on the CPU, float32 or float64.
bool takes_rows(const at::Tensor& x);

/// RMSNorm, x · weight / √(mean x² + eps) over the last dimension, in one pass: x [..., D],
/// weight [D] -> [..., D]. Gradients flow to both. The result does not depend on the number of
/// threads.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// A residual stream before and after the norm that reads it.
struct Normed {
  at::Tensor sum;     ///< x + delta
  at::Tensor normed;  ///< RMSNorm of the sum
};

/// Both in one pass, and their gradients in one: x, delta [..., D], weight [D].
Normed add_rms_norm(const at::Tensor& x, const at::Tensor& delta, const at::Tensor& weight,
                    double eps);

/// Mean cross-entropy in nats: logits [n, V], targets [n] (int64, in [0, V)) -> a scalar. With
/// weights [n] (float64) it is Σ weight · loss / n. One pass forward, one backward. Gradients flow
/// to the logits.
at::Tensor mean_cross_entropy(const at::Tensor& logits, const at::Tensor& targets,
                              const at::Tensor& weights = {});

/// x · cosine + partner(x) · sine of every row, in one pass: x [B, T, heads, d]; cosine and sine
/// [T, d]. The partner of a channel is its neighbour in the pairs (0, 1), (2, 3) …, or the one d/2
/// away if `halves`; both of a pair have one cosine, and sines that differ in sign. Gradients flow
/// to x.
at::Tensor turn_pairs(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                      bool halves);

}  // namespace difflab::kernel
