#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/verify/reference_case.h"
#include "model/attention/base/attention.h"
#include "model/layer/kernels_config.h"

namespace difflab {

/// Where a parameter of ours lies in the official file.
struct OfficialPart {
  std::string name;  ///< of the official parameter; empty: it has none, ours stays as built
  std::vector<std::int64_t> rows = {};  ///< which of its rows; empty: all
  double plus = 0;                      ///< added to what is stored (Qwen3-Next's gains)
};

/// Our module for a case, and how the official one keeps its parameters.
struct OfficialModule {
  std::shared_ptr<Attention> attention;
  RotaryLayout rotary = RotaryLayout::kInterleaved;
  bool differential = false;  ///< DIFF V1 or V2, which has other official forms
  std::map<std::string, OfficialPart> parts = {};  ///< by our name; others are called the same

  OfficialPart part(const std::string& ours) const {
    const auto found = parts.find(ours);
    return found == parts.end() ? OfficialPart{ours} : found->second;
  }
};

/// The variants that are known, for messages.
std::vector<std::string> known_variants();

/// Nothing if the case's variant is unknown.
std::optional<OfficialModule> official_module(const ReferenceCase& reference, Kernels kernels);

}  // namespace difflab
