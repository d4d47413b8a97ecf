#pragma once

#include <cstdint>

namespace difflab {

class LanguageModel;
struct ModelConfig;

/// Draws every parameter from a stream that is keyed by the seed and the parameter's own name, so
/// that models of one seed share what they have in common. Matrices, embeddings and the output head
/// follow config.init (init_config.h), whose defaults are the rules of the official files
/// (PyTorch's for Linear) and of the trainer they name (embeddings); gains are 1, biases 0. What is
/// named neither .weight nor .bias is its attention's own (Attention::initialise).
void initialise(LanguageModel& model, const ModelConfig& config, std::uint64_t seed);

}  // namespace difflab
