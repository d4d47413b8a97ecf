#pragma once

#include <cstdint>

#include "run/run_config.h"

namespace difflab {

/// Floating-point operations of a whole training: the causal forward pass counted by count_flops,
/// times three for the backward pass, over all sequences of all steps, those of its stages too.
/// Evaluations are left out; sequences count as the longest if there are several lengths.
/// @param vocab_size of the task; finding it may mean reading a text
double training_operations(const RunConfig& config, std::int64_t vocab_size);

}  // namespace difflab
