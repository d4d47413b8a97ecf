#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace difflab {

/// Logits [B, maps, T_q, T], −∞ where a position must not look, rounded to 2^bits − 1 evenly spaced
/// values between ± the largest size in their sequence and map.
at::Tensor quantize(const at::Tensor& logits, std::int64_t bits);

}  // namespace difflab
