#include "model/layer/fill.h"

#include <ATen/ATen.h>

namespace difflab {
namespace {

template <class Draw>
void fill(const at::Tensor& tensor, Draw draw) {
  auto values = at::empty(tensor.sizes(), at::kDouble);
  auto* data = values.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i) data[i] = draw();
  tensor.copy_(values);
}

}  // namespace

void fill_normal(const at::Tensor& tensor, double std, Random random) {
  fill(tensor, [&] { return std * random.normal(); });
}

void fill_uniform(const at::Tensor& tensor, double bound, Random random) {
  fill(tensor, [&] { return bound * (2 * random.uniform() - 1); });
}

}  // namespace difflab
