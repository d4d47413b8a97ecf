#pragma once

#include "model/block.h"
#include "model/layer/precision_config.h"

namespace difflab {

/// Block::forward at all places, of which only the stream in front is kept for the way back: there
/// the block is computed once more (Chen et al. 2016, arXiv:1604.06174). Gradients have the bits
/// they have otherwise, and dropout drops the same. `block` must outlive the graph.
Residual recomputed(Block& block, const Residual& stream, const Rotary& rotary,
                    Precision precision);

}  // namespace difflab
