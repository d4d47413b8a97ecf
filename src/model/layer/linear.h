#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "model/layer/layer_config.h"

namespace difflab {

/// A projection: [..., in] -> [..., out], weight [out, in], bias [out] if there is one. Fused, it
/// is our own product on the CPU.
class LinearImpl : public torch::nn::LinearImpl {
 public:
  LinearImpl(std::int64_t in, std::int64_t out, bool with_bias, Kernels kernels)
      : torch::nn::LinearImpl(torch::nn::LinearOptions(in, out).bias(with_bias)),
        kernels_(kernels) {}

  at::Tensor forward(const at::Tensor& x);

  /// True if x [..., in] is multiplied by our own product.
  bool is_fused(const at::Tensor& x) const;

 private:
  Kernels kernels_;
};
TORCH_MODULE(Linear);

/// Results of several projections of the same x, in their order. Fused, their gradients with
/// respect to x are summed as they are computed.
std::vector<at::Tensor> project(const at::Tensor& x, std::vector<Linear> projections);

}  // namespace difflab
