#pragma once

#include <cstdint>

namespace difflab {

/// What a block tells its attention.
struct AttentionShape {
  std::int64_t d_model;    ///< D, channels of the residual stream
  std::int64_t layer = 0;  ///< l, 0 for the first block
  bool bias = false;       ///< whether projections have one
};

}  // namespace difflab
