#pragma once

#include <ATen/ATen.h>

#include <string>

#include "record/safetensors.h"

namespace difflab::testing {

/// A stored tensor, copied.
inline at::Tensor to_tensor(const TensorBytes& stored) {
  const auto type = stored.dtype == "F64"   ? at::kDouble
                    : stored.dtype == "F32" ? at::kFloat
                                            : at::kLong;
  return at::from_blob(const_cast<char*>(stored.bytes.data()), stored.shape,
                       at::TensorOptions().dtype(type))
      .clone();
}

/// max |actual − expected| / max |expected|, or the absolute error where expected is all zero;
/// infinite if shapes differ or anything is NaN.
inline double relative_error(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.sizes() != expected.sizes()) return INFINITY;
  const auto a = actual.detach().to(at::kDouble), e = expected.detach().to(at::kDouble);
  const double error = (a - e).abs().max().item<double>();
  const double scale = e.abs().max().item<double>();
  if (!(error >= 0)) return INFINITY;
  return scale > 0 ? error / scale : error;
}

}  // namespace difflab::testing
