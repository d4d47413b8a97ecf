#pragma once

#include <optional>
#include <span>

namespace difflab {

/// Both ends of a range of plausible values.
struct Interval {
  double low;
  double high;
};

/// @throws std::invalid_argument if there are no values.
double mean(std::span<const double> values);

/// Standard deviation with n − 1 in the denominator; empty for fewer than two values.
std::optional<double> sample_sd(std::span<const double> values);

/// The middle value, or the mean of the two middle ones.
/// @throws std::invalid_argument if there are no values.
double median(std::span<const double> values);

/// mean ± t(n − 1) s / √n: covers the mean of a normal population in `level` of all samples.
/// Empty for fewer than two values: one run says nothing about its spread.
std::optional<Interval> t_interval(std::span<const double> values, double level = 0.95);

}  // namespace difflab
