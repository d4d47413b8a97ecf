#pragma once

#include <torch/nn/modules/linear.h>

#include <cstdint>

namespace difflab {

/// A projection without bias: [..., in] -> [..., out], weight [out, in].
inline torch::nn::Linear linear(std::int64_t in, std::int64_t out) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
}

}  // namespace difflab
