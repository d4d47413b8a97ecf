#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run_config.h"

namespace difflab {

/// Memory without which a part of a run cannot be done.
struct MemoryNeed {
  std::string key;  ///< of the run, whose value asks for it
  double bytes;
  std::string text;  ///< what takes it, e.g. "training 4 sequences of 4,096 tokens"
};

/// Lower bounds for the parts of a run on the CPU: weights, their gradients and moments, the states
/// that every layer keeps for its backward pass, and with plain kernels the maps [T, T]. Real runs
/// take more. None for a run on CUDA, whose memory this machine may not have.
/// @param trained the model is there and only asked
std::vector<MemoryNeed> least_memory(const RunConfig& config, bool trained);

/// Message about the first need beyond `available` bytes; nothing if there is none.
std::optional<std::string> lacks_memory(const RunConfig& config, bool trained, double available);

}  // namespace difflab
