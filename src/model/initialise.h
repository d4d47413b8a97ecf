#pragma once

#include <cstdint>

namespace difflab {

class LanguageModel;
struct ModelConfig;

/// Draws every parameter from a stream that is keyed by the seed and the parameter's own name, so
/// that models of one seed share what they have in common: embeddings N(0, embedding_std²),
/// matrices U(±1/√in) or N(0, init_std²), λ vectors N(0, lambda_std²), gains 1, biases 0; a scalar
/// λ keeps its λ_init. The defaults are the rules of the official files (PyTorch's for Linear) and
/// of the trainer they name (embeddings).
void initialise(LanguageModel& model, const ModelConfig& config, std::uint64_t seed);

}  // namespace difflab
