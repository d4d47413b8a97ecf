#pragma once

#include <ATen/ATen.h>

#include "util/random.h"

namespace difflab {

/// Fills a tensor of any type with what draw() gives, number by number.
template <class Draw>
void fill(const at::Tensor& tensor, Draw draw) {
  auto values = at::empty(tensor.sizes(), at::kDouble);
  auto* data = values.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i) data[i] = draw();
  tensor.copy_(values);
}

/// Fills a tensor from N(0, std²), by one stream.
inline void fill_normal(const at::Tensor& tensor, double std, Random random) {
  fill(tensor, [&] { return std * random.normal(); });
}

/// The same from U(−bound, bound).
inline void fill_uniform(const at::Tensor& tensor, double bound, Random random) {
  fill(tensor, [&] { return bound * (2 * random.uniform() - 1); });
}

}  // namespace difflab
