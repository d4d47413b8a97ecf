#include "model/layer/rms_norm.h"

#include <ATen/ATen.h>

#include "kernel/operation/fused_rows.h"

namespace difflab {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps, Kernels kernels) {
  if (uses_kernels(kernels) && kernel::takes_rows(x)) return kernel::rms_norm(x, weight, eps);
  // The library's fast one takes x and weight of one type alone; autocast leaves both to us.
  return at::rms_norm(x.to(weight.scalar_type()), weight.sizes(), weight, eps);
}

}  // namespace difflab
