#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab {

/// In what numbers a model multiplies. Parameters, their updates, the residual stream, norms and
/// losses are float32 in either case.
enum class Precision {
  kFloat32,
  kBfloat16,  ///< projections and attention in bfloat16, as the library's autocast does it
};

template <>
struct config::EnumNames<Precision> {
  static constexpr std::array<std::pair<std::string_view, Precision>, 2> kNames{{
      {"float32", Precision::kFloat32},
      {"bfloat16", Precision::kBfloat16},
  }};
};

}  // namespace difflab
