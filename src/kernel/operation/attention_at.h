#pragma once

#include <ATen/core/Tensor.h>

#include "kernel/operation/head_map.h"

namespace difflab::kernel {

/// Some rows of fused_attention alone, as decoding and questions about long sequences need them: q
/// [n, heads, d] at flat places [n] of B · T over k [B, T, heads, d] and v [B, T, heads, width], λ
/// [n, H] -> [n, H, width]. k and v may be parts of longer tensors, as a cache gives them: they are
/// read where they lie, for each row keys once for a map and values once for an output; a noise map
/// of several heads is computed once. No gradients. The result does not depend on the number of
/// threads.
at::Tensor attention_at(const at::Tensor& places, const at::Tensor& q, const at::Tensor& k,
                        const at::Tensor& v, const at::Tensor& lambda, const HeadMap& heads,
                        const at::Tensor& sinks = {});

}  // namespace difflab::kernel
