#pragma once

#include <torch/nn/module.h>

#include <cstdint>

#include "model/layer/layer_config.h"

namespace difflab {

/// x · weight / √(mean x² + eps) over the last dimension: x [..., D], weight [D] -> [..., D].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, Kernels kernels);

/// Normalises each head's output over its channels; named `subln` in the official files.
/// Parameters: weight [width] for rms and group, bias [width] for group, none for none.
class HeadNorm : public torch::nn::Module {
 public:
  HeadNorm(HeadNormKind kind, std::int64_t width, double eps, Kernels kernels);

  /// x [..., width] -> the same shape, times `factor`, which costs nothing where there is a gain.
  at::Tensor forward(const at::Tensor& x, double factor = 1) const;

 private:
  HeadNormKind kind_;
  std::int64_t width_;
  double eps_;
  Kernels kernels_;
  at::Tensor weight_, bias_;  // [width]
};

}  // namespace difflab
