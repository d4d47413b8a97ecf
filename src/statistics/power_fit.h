#pragma once

#include <optional>
#include <span>

#include "statistics/describe.h"

namespace difflab {

/// y = a · x^−b, the straight line of least squares through log x and log y.
struct PowerFit {
  double a;
  double b;
  std::optional<Interval> b_interval;  ///< t interval of b; empty for two points

  double at(double x) const;
  double x_at(double y) const;  ///< where the curve has this value
};

/// Empty unless at least two distinct x are given; values that are not positive have no logarithm
/// and are left out.
std::optional<PowerFit> fit_power(std::span<const double> x, std::span<const double> y);

}  // namespace difflab
