#pragma once

#include <torch/nn/modules/linear.h>

#include <cstdint>

namespace difflab {

/// A projection: [..., in] -> [..., out], weight [out, in], bias [out] if asked.
inline torch::nn::Linear linear(std::int64_t in, std::int64_t out, bool bias = false) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

}  // namespace difflab
