#include "model/attention/base/head_norm.h"

#include <ATen/ATen.h>

#include "model/layer/rms_norm.h"

namespace difflab {

HeadNorm::HeadNorm(HeadNormKind kind, std::int64_t width, double eps, Kernels kernels)
    : kind_(kind), width_(width), eps_(eps), kernels_(kernels) {
  if (kind_ != HeadNormKind::kNone) weight_ = register_parameter("weight", at::ones(width));
  if (kind_ == HeadNormKind::kGroup) bias_ = register_parameter("bias", at::zeros(width));
}

at::Tensor HeadNorm::forward(const at::Tensor& x, double factor) const {
  const auto times_factor = [factor](const at::Tensor& y) { return factor == 1 ? y : y * factor; };
  switch (kind_) {
    case HeadNormKind::kNone:
      return times_factor(x);
    case HeadNormKind::kRms:
      return rms_norm(x, times_factor(weight_), eps_, kernels_);
    case HeadNormKind::kGroup:
      return at::layer_norm(x, {width_}, times_factor(weight_), times_factor(bias_), eps_);
  }
  TORCH_CHECK(false, "unreachable head norm");
}

}  // namespace difflab
