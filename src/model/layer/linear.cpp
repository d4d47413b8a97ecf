#include "model/layer/linear.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kernel/operation/fused_linear.h"

namespace difflab {

bool LinearImpl::is_fused(const at::Tensor& x) const {
  return uses_kernels(kernels_) && kernel::takes_linear(x, weight);
}

at::Tensor LinearImpl::forward(const at::Tensor& x) {
  return is_fused(x) ? kernel::linear(x, weight, bias) : at::linear(x, weight, bias);
}

std::vector<at::Tensor> project(const at::Tensor& x, std::vector<Linear> projections) {
  const bool fused = std::all_of(projections.begin(), projections.end(),
                                 [&](const Linear& one) { return one->is_fused(x); });
  const bool biased = std::any_of(projections.begin(), projections.end(),
                                  [](const Linear& one) { return one->bias.defined(); });
  std::vector<at::Tensor> results, biases;
  for (auto& one : projections) {
    results.push_back(fused ? one->weight : one(x));
    if (!biased) continue;
    const bool own = one->bias.defined();
    biases.push_back(own ? one->bias : at::zeros(one->weight.size(0), one->weight.options()));
  }
  return fused ? kernel::linears(x, results, biases) : results;
}

}  // namespace difflab
