#pragma once

#include <variant>

#include "train/optimizer/adamw.h"
#include "train/optimizer/muon.h"
#include "train/optimizer/sgd.h"

namespace difflab {

/// Every optimiser there is; `kind` in the YAML picks one.
/// To add one: write optimizer/NAME.{h,cpp}, include it above, name it here.
using OptimizerConfig = std::variant<AdamWConfig, MuonConfig, SgdConfig>;

}  // namespace difflab
