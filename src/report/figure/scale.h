#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "config/schema/fields.h"

namespace difflab::report {

enum class AxisScale { kLinear, kLog };

}  // namespace difflab::report

template <>
struct difflab::config::EnumNames<difflab::report::AxisScale> {
  static constexpr std::array<std::pair<std::string_view, difflab::report::AxisScale>, 2> kNames = {
      {{"linear", difflab::report::AxisScale::kLinear}, {"log", difflab::report::AxisScale::kLog}}};
};
