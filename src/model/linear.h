#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "model/kernels_config.h"

namespace difflab {

/// A projection: [..., in] -> [..., out], weight [out, in], bias [out] if there is one. Fused and
/// without a bias, it is our own product on the CPU.
class LinearImpl : public torch::nn::LinearImpl {
 public:
  LinearImpl(std::int64_t in, std::int64_t out, bool with_bias, Kernels kernels)
      : torch::nn::LinearImpl(torch::nn::LinearOptions(in, out).bias(with_bias)),
        kernels_(kernels) {}

  at::Tensor forward(const at::Tensor& x);

 private:
  Kernels kernels_;
};
TORCH_MODULE(Linear);

}  // namespace difflab
