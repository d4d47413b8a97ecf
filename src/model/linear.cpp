#include "model/linear.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernel/fused_linear.h"

namespace difflab {

bool LinearImpl::is_fused(const at::Tensor& x) const {
  return kernels_ == Kernels::kFused && !bias.defined() && kernel::takes_linear(x, weight);
}

at::Tensor LinearImpl::forward(const at::Tensor& x) {
  return is_fused(x) ? kernel::linear(x, weight) : at::linear(x, weight, bias);
}

std::vector<at::Tensor> project(const at::Tensor& x, std::vector<Linear> projections) {
  const bool fused = std::all_of(projections.begin(), projections.end(),
                                 [&](const Linear& one) { return one->is_fused(x); });
  std::vector<at::Tensor> results;
  for (auto& one : projections) results.push_back(fused ? one->weight : one(x));
  return fused ? kernel::linears(x, results) : results;
}

}  // namespace difflab
