#pragma once

#include <ATen/core/Tensor.h>

#include "util/random.h"

namespace difflab {

/// Fills a tensor of any type from N(0, std²), number by number from one stream.
void fill_normal(const at::Tensor& tensor, double std, Random random);

/// The same from U(−bound, bound).
void fill_uniform(const at::Tensor& tensor, double bound, Random random);

}  // namespace difflab
