#pragma once

#include <memory>
#include <vector>

#include "train/optimizer/adam_settings.h"
#include "train/optimizer/update_rule.h"

namespace difflab {

/// AdamW for the parameters `of`, one operation for all that have the same rate and decay:
/// p ← p·(1 − lr·weight_decay), then the step of Adam.
std::unique_ptr<UpdateRule> adam_rule(const FlatParameters& flat, std::vector<ParameterPlace> of,
                                      const AdamSettings& adam);

}  // namespace difflab
