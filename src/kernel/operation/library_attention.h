#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "kernel/operation/fused_attention.h"

namespace difflab::kernel {

/// The same function as fused_attention, for any device and type: every map is a head of its own of
/// the library's scaled_dot_product_attention, whose kernels for CUDA store nothing T × T. It picks
/// one by the device, the type and the widths; DIFF V1's values, wider than its queries, are left
/// to the memory-efficient one.
at::Tensor library_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& lambda, const HeadMap& heads,
                             const at::Tensor& sinks = {});

/// Which of the library's kernels the function above has used since the last call, in alphabetical
/// order: "cudnn", "efficient", "flash", "math". To be recorded beside results, since they round
/// differently.
std::vector<std::string> take_library_attention_used();

}  // namespace difflab::kernel
