#pragma once

#include <ATen/core/Tensor.h>

#include "model/layer/layer_config.h"

namespace difflab {

/// x · weight / √(mean x² + eps) over the last dimension: x [..., D], weight [D] -> [..., D].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, Kernels kernels);

}  // namespace difflab
