#pragma once

#include <torch/nn/module.h>

#include <string>

#include "task/base/task.h"

namespace difflab {

/// The first 16 hexadecimal digits of the SHA-256 of a text with one line per tensor, "NAME TYPE
/// [SHAPE] SHA256", the last of its bytes: of the batch's inputs and targets.
std::string fingerprint(const Batch& batch);

/// The same of the model's parameters, sorted.
std::string fingerprint(const torch::nn::Module& model);

}  // namespace difflab
