#pragma once

#include <ATen/core/Tensor.h>

namespace difflab::kernel {

/// SwiGLU, down(SiLU(gate(x)) · up(x)) (Shazeer 2020, arXiv:2002.05202), whole: x [..., D], weights
/// gate and up [H, D], down [D, H] -> [..., D]. Takes what `takes_linear` takes. Rows go through
/// all of it in groups that stay in the cache, and what lies between the projections has rows of
/// whole vectors: for the odd widths of H a store that crosses cache lines costs a product up to a
/// third. Gradients flow to all four. The result does not depend on the number of threads.
at::Tensor swiglu(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& up,
                  const at::Tensor& down);

}  // namespace difflab::kernel
