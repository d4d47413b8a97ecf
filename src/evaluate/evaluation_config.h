#pragma once

#include <string>
#include <variant>

#include "evaluate/activation_outliers.h"
#include "evaluate/ar_hit.h"
#include "evaluate/attention_allocation.h"
#include "evaluate/heldout.h"
#include "evaluate/initial_gradients.h"
#include "evaluate/lambda_distribution.h"
#include "evaluate/logit_quantization.h"
#include "evaluate/loss_by_position.h"
#include "evaluate/needle_grid.h"
#include "evaluate/sample_text.h"
#include "evaluate/throughput.h"

namespace difflab {

/// Every evaluation of a trained model; `kind` in the YAML picks one.
/// To add one: write NAME.{h,cpp}, include it above, name it here.
using EvaluationConfig =
    std::variant<HeldoutConfig, NeedleGridConfig, SampleTextConfig, AttentionAllocationConfig,
                 ActivationOutliersConfig, LogitQuantizationConfig, LossByPositionConfig,
                 ArHitConfig, InitialGradientsConfig, LambdaDistributionConfig, ThroughputConfig>;

/// What the result of an evaluation is kept under.
inline std::string result_name(const EvaluationConfig& config) {
  return std::visit(
      [](const auto& kind) { return kind.name.empty() ? std::string(kind.kKind) : kind.name; },
      config);
}

}  // namespace difflab
