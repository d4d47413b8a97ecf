#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace difflab::kernel {

/// Which of the heads in q, k and v each output head reads, one number per output head. Without
/// second maps, q2 and k2 are empty. Heads that read the same v may share keys; heads that read
/// different ones must not. A query head makes one map. It is the first of one output head, or the
/// second, the noise map, of one or several, which then have its keys and their values in common.
struct HeadMap {
  std::vector<std::int64_t> q1, q2, k1, k2, v;
};

/// Causal attention of every output head in one pass, nothing T × T stored:
///
///   o_i = (softmax(q_{q1(i)} k_{k1(i)}ᵀ/√d) − λ_i softmax(q_{q2(i)} k_{k2(i)}ᵀ/√d)) v_{v(i)}
///
/// q [B, T, heads, d], k [B, T, heads, d], v [B, T, heads, width], λ [B, H, T] (undefined without
/// second maps) -> [B, T, H, width]. `sinks` [heads of q] holds the logit of a sink for the map of
/// each query head, whose share of the weights goes nowhere; undefined: none. All on the CPU, of
/// one type, float32 or float64. Gradients flow to q, k, v, λ and the sinks. A noise map of several
/// heads is computed once, forwards and backwards. The result does not depend on the number of
/// threads.
at::Tensor fused_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& lambda, const HeadMap& heads,
                           const at::Tensor& sinks = {});

}  // namespace difflab::kernel
