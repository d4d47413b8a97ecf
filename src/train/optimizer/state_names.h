#pragma once

#include <string_view>

namespace difflab {

/// Whether a tensor of a checkpoint is an optimiser's state and not a parameter of the model. Names
/// of state begin with "optimizer."; AdamW's, with "adam.", are older than that rule.
inline bool is_optimizer_state(std::string_view tensor) {
  return tensor.starts_with("optimizer.") || tensor.starts_with("adam.");
}

}  // namespace difflab
