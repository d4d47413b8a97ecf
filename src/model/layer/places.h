#pragma once

#include <ATen/ATen.h>

namespace difflab {

/// Of x [B, T, ...] what lies at the flat places [n] of B · T: [n, ...]. All of x if `places` is
/// undefined.
inline at::Tensor at_places(const at::Tensor& x, const at::Tensor& places) {
  return places.defined() ? x.flatten(0, 1).index_select(0, places) : x;
}

}  // namespace difflab
