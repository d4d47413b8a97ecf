#pragma once

#include <string>
#include <variant>

#include "evaluate/activation_outliers.h"
#include "evaluate/ar_hit.h"
#include "evaluate/attention_allocation.h"
#include "evaluate/hallucination.h"
#include "evaluate/heldout.h"
#include "evaluate/in_context_shots.h"
#include "evaluate/initial_gradients.h"
#include "evaluate/lambda_distribution.h"
#include "evaluate/logit_quantization.h"
#include "evaluate/loss_by_position.h"
#include "evaluate/needle_grid.h"
#include "evaluate/sample_text.h"
#include "evaluate/text_needle_grid.h"
#include "evaluate/throughput.h"

namespace difflab {

/// Every evaluation of a trained model; `kind` in the YAML picks one.
/// To add one: write NAME.{h,cpp}, include it above, name it here.
using EvaluationConfig =
    std::variant<HeldoutConfig, NeedleGridConfig, TextNeedleGridConfig, InContextShotsConfig,
                 HallucinationConfig, AttentionAllocationConfig, ActivationOutliersConfig,
                 LogitQuantizationConfig, LossByPositionConfig, ArHitConfig, InitialGradientsConfig,
                 LambdaDistributionConfig, ThroughputConfig, SampleTextConfig>;

/// The name that an evaluation was given, "" if none.
template <class Kind>
const std::string& given_name(const Kind& kind) {
  if constexpr (requires { kind.grid; }) {
    return kind.grid.name;
  } else {
    return kind.name;
  }
}

/// What the result of an evaluation is kept under.
inline std::string result_name(const EvaluationConfig& config) {
  return std::visit(
      [](const auto& kind) {
        const auto& name = given_name(kind);
        return name.empty() ? std::string(kind.kKind) : name;
      },
      config);
}

}  // namespace difflab
