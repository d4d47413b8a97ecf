#pragma once

#include <ATen/core/Tensor.h>

#include "kernel/operation/head_map.h"

namespace difflab::kernel {

/// The last token's row of fused_attention, as decoding needs it: q [B, 1, heads, d] over k [B, T,
/// heads, d] and v [B, T, heads, width], λ [B, H, 1] -> [B, 1, H, width]. k and v may be parts of
/// longer tensors, as a cache gives them: they are read where they lie, keys once for a map and
/// values once for an output; a noise map of several heads is computed once. No gradients. The
/// result does not depend on the number of threads.
at::Tensor last_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& lambda, const HeadMap& heads,
                          const at::Tensor& sinks = {});

}  // namespace difflab::kernel
