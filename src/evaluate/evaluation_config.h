#pragma once

#include <string>
#include <variant>

#include "evaluate/hallucination.h"
#include "evaluate/heldout.h"
#include "evaluate/in_context_shots.h"
#include "evaluate/needle_grid.h"
#include "evaluate/sample_text.h"
#include "evaluate/text_needle_grid.h"

namespace difflab {

/// Every evaluation of a trained model; `kind` in the YAML picks one.
/// To add one: write NAME.{h,cpp}, include it above, name it here.
using EvaluationConfig = std::variant<HeldoutConfig, NeedleGridConfig, InContextShotsConfig,
                                      HallucinationConfig, TextNeedleGridConfig, SampleTextConfig>;

}  // namespace difflab
