#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/kernels_config.h"
#include "model/key_value_cache.h"
#include "model/rotary.h"
#include "util/random.h"

namespace difflab {

/// Causal self-attention over one sequence: position t reads positions 0..t.
class Attention : public torch::nn::Module {
 public:
  /// x [B, T, D] -> [B, T, D]. With a cache, x holds the tokens after those in it, `rotary` the
  /// angles of x's positions, and the new keys and values are appended.
  virtual at::Tensor forward(const at::Tensor& x, const Rotary& rotary,
                             KeyValueCache* cache = nullptr) = 0;

  /// The weights that mix the values, for analysis: [B, H, T, T], zero above the diagonal.
  /// Rows sum to 1 for a softmax map and to 1 − λ for a difference of two.
  virtual at::Tensor weights(const at::Tensor& x, const Rotary& rotary) = 0;

  /// d, the width that the rotary embedding turns; 0 if it turns nothing.
  virtual std::int64_t rotary_dim() const = 0;

  /// Draws the parameters that are neither projections nor norms (whose names do not end in .weight
  /// or .bias); `stream` gives each its own random numbers by its name in this module.
  virtual void initialise(const std::function<Random(const std::string& name)>& stream);

  /// Named numbers worth a line in the metrics, e.g. {"lambda", 0.31}.
  virtual std::vector<std::pair<std::string, double>> statistics() const { return {}; }
};

/// Whether x is attended to by the fused kernels: on the CPU, whole sequences.
bool uses_fused(Kernels kernels, const at::Tensor& x, const KeyValueCache* cache);

/// softmax(q kᵀ/√d) over positions 0..t; q [B, heads, T_q, d], k [B, heads, T, d], the queries
/// being those of the last T_q positions -> [B, heads, T_q, T].
at::Tensor causal_map(const at::Tensor& q, const at::Tensor& k);

/// [B, T, heads·d] -> [B, T, heads, d].
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads);

/// [B, heads, T, d] -> [B, T, heads·d].
at::Tensor join_heads(const at::Tensor& heads);

/// Repeats each head `times` in place for grouped queries: [B, T, heads, ...] ->
/// [B, T, heads·times, ...], head j of the result being head j / times of x.
at::Tensor repeat_heads(const at::Tensor& x, std::int64_t times);

}  // namespace difflab
