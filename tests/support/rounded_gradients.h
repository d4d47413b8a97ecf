#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <string>

namespace difflab::testing {

/// How far a gradient in bfloat16 may be from the exact one, of the parameter of that name.
///
/// Each by itself: those of the embedding are a hundred times those of a head's norm. λ's, that of
/// a gain of queries and keys, or that of another number of an attention, is a sum over all rows,
/// of which most cancel. Where rows of weights sum to nothing, a bias of values has no gradient at
/// all, and rounding leaves one.
inline double rounded_gradient_bound(const std::string& parameter, const at::Tensor& exact) {
  const bool summed = parameter.find("attn.lambda") != parameter.npos ||
                      parameter.find("attn.q_norm") != parameter.npos ||
                      parameter.find("attn.k_norm") != parameter.npos ||
                      (!parameter.ends_with(".weight") && !parameter.ends_with(".bias"));
  return (summed ? 0.4 : 0.2) * std::max(exact.abs().max().item<double>(), 2e-3);
}

}  // namespace difflab::testing
