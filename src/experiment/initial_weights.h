#pragma once

#include <string>

#include "model/language_model.h"
#include "record/safetensors.h"

namespace difflab {

/// Fills a model from the file of `init_from`: parameters under our names, or those of
/// transformers' DiffLlama (run/diffllama.h).
/// @throws UserError naming file and tensor if they do not fit; the model is then unchanged.
void load_initial_weights(LanguageModel& model, const Safetensors& file, const std::string& path);

}  // namespace difflab
