#include "model/layer/norm.h"

#include <ATen/ATen.h>

#include "kernel/operation/fused_rows.h"

namespace difflab {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, Kernels kernels) {
  if (uses_kernels(kernels) && kernel::takes_rows(x)) return kernel::rms_norm(x, weight, eps);
  // The library's fast one takes x and weight of one type alone; autocast leaves both to us.
  return at::rms_norm(x.to(weight.scalar_type()), weight.sizes(), weight, eps);
}

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
