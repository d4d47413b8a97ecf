#pragma once

#include <ATen/core/Tensor.h>

namespace difflab::kernel {

/// Whether the functions below can take it: on the CPU, float32 or float64.
bool takes_rows(const at::Tensor& x);

/// RMSNorm, x · weight / √(mean x² + eps) over the last dimension, in one pass: x [..., D],
/// weight [D] -> [..., D]. Gradients flow to both. The result does not depend on the number of
/// threads.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

/// The inner part of SwiGLU, SiLU(gate) · up, in one pass: any equal shapes. Gradients flow to
/// both.
at::Tensor silu_gate(const at::Tensor& gate, const at::Tensor& up);

}  // namespace difflab::kernel
