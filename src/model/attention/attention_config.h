#pragma once

#include <variant>

#include "model/attention/differential.h"
#include "model/attention/differential_v2.h"
#include "model/attention/softmax.h"

namespace difflab {

/// Every attention a model can be built with; `kind` in the YAML picks one.
/// To add one: write attention/NAME.{h,cpp}, include it above, name it here.
using AttentionConfig = std::variant<SoftmaxAttentionConfig, DifferentialAttentionConfig,
                                     DifferentialV2Config, ExclusiveAttentionConfig>;

}  // namespace difflab
