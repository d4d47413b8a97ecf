#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "statistics/describe.h"

namespace difflab {

/// Wilson's score interval for a share of `successes` among `trials` independent tries (1927).
/// Empty for no trials.
std::optional<Interval> wilson_interval(std::int64_t successes, std::int64_t trials,
                                        double level = 0.95);

/// An interval for the mean of shares in [0, 1], such as accuracies of several seeds, that stays
/// there: the p with (mean − p)² = t(n − 1)² · φ · p (1 − p) / n, Wilson's score interval with the
/// dispersion φ = s² / (mean (1 − mean)) that the values have (an effective sample size, Korn &
/// Graubard 1998) and Student's quantile. Both ends are the mean if all values are equal. Empty for
/// fewer than two values.
std::optional<Interval> mean_share_interval(std::span<const double> shares, double level = 0.95);

/// An interval for the mean of differences of two shares, which lie in [−1, 1], that stays there:
/// the t interval on the scale of Fisher's z = artanh(difference). Empty for fewer than two values.
std::optional<Interval> share_difference_interval(std::span<const double> differences,
                                                  double level = 0.95);

/// McNemar's exact two-sided p of pairs of which `only_first` have the first alone succeed and
/// `only_second` the second alone: 1 if there are none.
double mcnemar_p(std::int64_t only_first, std::int64_t only_second);

}  // namespace difflab
