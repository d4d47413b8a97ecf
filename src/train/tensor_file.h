#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "record/safetensors.h"

namespace difflab {

struct Batch;

/// A stored tensor, copied to the CPU in the type it is stored in (F64, F32, F16, BF16, I64 or
/// I32).
/// @throws UserError naming file and tensor for any other type.
at::Tensor to_tensor(const TensorBytes& stored, const std::string& file);

/// How files call a type, e.g. "F32". Types that files do not have are a bug.
std::string dtype_name(at::ScalarType type);

/// A tensor on the CPU, contiguous, as an entry of a file; the bytes are borrowed from it.
TensorBytes stored_as(const std::string& name, const at::Tensor& tensor);

/// Fills every parameter of the model from the tensor that `stored_name` gives for its name,
/// converting float16, bfloat16 and float32/64 to the parameter's type.
/// @throws UserError naming file and tensor if one is missing, has another shape or no floating
/// type; the model is then unchanged.
void load_parameters(torch::nn::Module& model, const Safetensors& file, const std::string& path,
                     const std::function<std::string(const std::string&)>& stored_name);

/// The parameters alone, under their names, with `metadata`; atomically.
void save_parameters(const std::filesystem::path& path, const torch::nn::Module& model,
                     const std::map<std::string, std::string>& metadata);

/// Loads what save_parameters, or any other program, wrote: exactly the model's parameters. A
/// training checkpoint will do, too; its moments (adam.*) are passed over.
/// @throws UserError as above, and if the file holds a tensor that the model lacks.
void load_parameters(torch::nn::Module& model, const Safetensors& file, const std::string& path);

/// The first 16 hexadecimal digits of the SHA-256 of a text with one line per tensor, "NAME TYPE
/// [SHAPE] SHA256", the last of its bytes: of the batch's inputs and targets.
std::string fingerprint(const Batch& batch);

/// The same of the model's parameters, sorted.
std::string fingerprint(const torch::nn::Module& model);

}  // namespace difflab
