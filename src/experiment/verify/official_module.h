#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/verify/reference_case.h"
#include "model/attention/base/attention.h"
#include "model/layer/layer_config.h"

namespace difflab {

/// Parameters of the official file, by their names there.
using OfficialParameters = std::function<at::Tensor(const std::string& name)>;

/// Makes a parameter of ours from official ones, such as rows of an official matrix.
/// Differentiable, so that gradients of ours become those of the official parameters.
using OfficialPart = std::function<at::Tensor(const OfficialParameters& official)>;

/// Our module for a case, and how the official one keeps its parameters.
struct OfficialModule {
  std::shared_ptr<Attention> attention;
  RotaryLayout rotary = RotaryLayout::kInterleaved;
  bool differential = false;  ///< DIFF V1 or V2, which has other official forms
  std::map<std::string, OfficialPart> parts = {};  ///< by our name; others are called the same
};

/// The variants that are known, for messages.
std::vector<std::string> known_variants();

/// Nothing if the case's variant is unknown.
std::optional<OfficialModule> official_module(const ReferenceCase& reference, Kernels kernels);

}  // namespace difflab
