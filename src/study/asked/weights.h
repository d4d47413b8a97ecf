#pragma once

#include <filesystem>

#include "config/value/value.h"

namespace difflab::cli {

/// Weights with the configuration of their model.
struct Weights {
  std::filesystem::path file;  ///< absolute, safetensors
  config::Value config;        ///< of a run: at least model and task
};

/// True if this names weights: a .safetensors file, or a folder with one that is no run.
bool is_weights(const std::filesystem::path& name);

/// The configuration is that in the file's metadata (difflab export), else config.yaml beside it.
/// @throws UserError if there is none, or if a folder holds more than one file of weights.
Weights read_weights(const std::filesystem::path& name);

}  // namespace difflab::cli
