#pragma once

#include <ATen/core/Tensor.h>

#include "kernel/operation/head_map.h"

namespace difflab::kernel {

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
