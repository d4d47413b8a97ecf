#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace difflab::kernel {

/// True if `linear` can take these and is worth its while: on the CPU, float32 or float64, and
/// enough rows of x that the library's product is no better.
bool takes_linear(const at::Tensor& x, const at::Tensor& weight);

/// x Wᵀ + bias: x [..., in], weight [out, in], bias [out] -> [..., out], by products made for the
/// narrow matrices of small models (kernel/product.h). Gradients flow to all. The result does not
/// depend on the number of threads, nor a row on the others. The bias may be undefined.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

/// The same of several weights [out_i, in], all with a bias or none: their gradients with respect
/// to x are summed as they are computed, in no further pass.
std::vector<at::Tensor> linears(const at::Tensor& x, at::TensorList weights,
                                at::TensorList biases = {});

}  // namespace difflab::kernel
