#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model_config.h"
#include "record/safetensors.h"

namespace difflab {

/// Where a parameter of ours lies in a file of another program.
struct StoredPart {
  std::string name;                     ///< empty: the file has none, and ours is 1
  std::vector<std::int64_t> rows = {};  ///< its rows in our order; empty: as they are
};

/// True if a file names its weights as transformers' DiffLlamaForCausalLM does.
bool is_diffllama(const Safetensors& file);

/// First difference of the model from DiffLlama, as the end of a sentence; "" if it is a DiffLlama:
/// the llama block with DIFF V1 and its defaults, rotary positions in either layout.
std::string unlike_diffllama(const ModelConfig& model);

/// Where a parameter of such a model (parameter_shapes) lies in DiffLlama's file. DiffLlama
///
///   counts maps where we count pairs, and a pair is a head of the first half and one of the
///   second, of queries, keys and values; ours lie side by side;
///   turns channels j and j + d/2 of queries and keys together, where `interleaved` has 2j, 2j + 1;
///   has no gain in the norm of heads.
///
/// Source: transformers 5.23, models/diffllama/modeling_diffllama.py.
StoredPart diffllama_part(const ModelConfig& model, const std::string& parameter);

}  // namespace difflab
