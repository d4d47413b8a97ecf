#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "record/safetensors.h"
#include "util/json.h"

namespace difflab {

/// How far one figure of ours is from the reference's.
struct TensorError {
  std::string tensor;     ///< "y", "grad.x", "grad.q_proj.weight", "loss step 1" …
  std::string precision;  ///< "float64" or "float32"
  std::string kernels;    ///< "plain" or "fused"
  double error = 0;  ///< max |ours − theirs| / max |theirs|; infinite for NaN or other shapes
  double tolerance = 0;

  bool passed() const { return error <= tolerance; }
};

struct CaseReport {
  std::string name;
  std::vector<TensorError> errors;

  bool passed() const;
};

/// A file of reference data: what another implementation answered (tests/model/reference/README.md
/// has the format).
struct ReferenceCase {
  std::filesystem::path path;
  Safetensors file;
  Json peer;  ///< shapes and hyper-parameters, from the metadata

  /// @throws UserError naming the file if it is damaged or no such file.
  static ReferenceCase read(const std::filesystem::path& path);
  std::string name() const { return path.stem().string(); }
  at::Tensor tensor(const std::string& tensor_name) const;
};

/// An attention module: output and all gradients, in float64 and float32, plain and fused.
CaseReport verify_attention(const ReferenceCase& reference);

/// A language model: losses, first gradients and the parameters after three AdamW steps, float64,
/// plain and fused.
CaseReport verify_training(const ReferenceCase& reference);

/// Every *.safetensors file in a folder and those below it, in the order of names, each by the
/// fitting check. A case of an unknown variant has failed.
/// @throws UserError if there is none, or if one is no reference case.
std::vector<CaseReport> verify_folder(const std::filesystem::path& folder);

/// max |ours − theirs| / max |theirs|, or the absolute error where theirs is all zero; infinite if
/// shapes differ or anything is NaN.
double relative_error(const at::Tensor& ours, const at::Tensor& theirs);

}  // namespace difflab
