#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab {

/// How the learning rate goes on behind the warm-up.
enum class LrSchedule {
  kCosine,    ///< half a cosine down to lr · final_lr_ratio at the last step
  kLinear,    ///< a straight line to there
  kConstant,  ///< lr, so that the horizon does not move what happens on the way
  kStable,    ///< constant, then a straight line over the last decay_share of all steps (warm-up,
              ///< stable, decay; Hu et al. 2024, arXiv 2404.06395)
};

template <>
struct config::EnumNames<LrSchedule> {
  static constexpr std::array<std::pair<std::string_view, LrSchedule>, 4> kNames{
      {{"cosine", LrSchedule::kCosine},
       {"linear", LrSchedule::kLinear},
       {"constant", LrSchedule::kConstant},
       {"warmup_stable_decay", LrSchedule::kStable}}};
};

}  // namespace difflab
