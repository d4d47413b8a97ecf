#pragma once

#include <cstdint>

#include "model/layer/kernels_config.h"

namespace difflab {

/// More heads, or wider ones, than anybody has; keeps products of sizes within 64 bits.
constexpr double kMostHeads = 65'536;

/// What a block tells its attention.
struct AttentionShape {
  std::int64_t d_model;    ///< D, channels of the residual stream
  std::int64_t layer = 0;  ///< l, 0 for the first block
  bool bias = false;       ///< whether projections have one
  Kernels kernels = Kernels::kPlain;
};

}  // namespace difflab
