#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "statistics/describe.h"

namespace difflab {

/// The share of sign patterns of `differences` whose sum is at least as far from zero as theirs:
/// the exact two-sided p of the hypothesis that each difference is as likely + as −. It cannot go
/// below `smallest_sign_flip_p(n)`. All patterns of up to 40 differences are counted; beyond that
/// 2^20 are drawn, always the same ones, and p = (hits + 1) / (draws + 1).
/// @throws std::invalid_argument if there are no differences.
double sign_flip_p(std::span<const double> differences);

/// How many pairs of a number of each ascending list have first − second ≤ most.
double pairs_up_to(const std::vector<double>& first, const std::vector<double>& second,
                   double most);

/// 2 / 2^n, what n pairs can show at best; 1 for n = 0.
double smallest_sign_flip_p(std::int64_t pairs);

/// The bias-corrected and accelerated bootstrap interval of the mean (BCa; Efron 1987), from the
/// means of samples of n drawn with replacement. Up to 6 values all nⁿ samples are counted; beyond
/// that 20,000 are drawn, always the same ones. With few values it is too narrow, unlike the t
/// interval, but it assumes no normal population, and it leans to the side to which the values are
/// skewed. Both ends are the mean if all values are equal. Empty for fewer than two values.
std::optional<Interval> bca_interval(std::span<const double> values, double level = 0.95);

/// The p of two one-sided paired t tests (Schuirmann 1987) that the mean difference lies outside
/// (−margin, margin): small if the two sides are equivalent within the margin. 1 for fewer than two
/// differences; 2^-n where n differences are all the same and within the margin, as their spread
/// says nothing. @throws std::invalid_argument if the margin is not positive.
double equivalence_p(std::span<const double> differences, double margin);

/// The same of what happens or not: the exact p that a share of pairs differ that is at least the
/// margin, Binomial(pairs, margin) ≤ differing. The two shares differ by no more than that one.
/// @throws std::invalid_argument if the margin is not positive.
double equivalence_p(std::int64_t differing, std::int64_t pairs, double margin);

/// The smallest number of pairs with which a paired t test at two-sided `alpha` finds a mean
/// difference as large as that of `differences`, at their standard deviation, with this power (the
/// normal approximation of the shifted t). Empty if it would be more than `most`, or unknown.
std::optional<std::int64_t> pairs_needed(std::span<const double> differences, double alpha,
                                         double power = 0.8, std::int64_t most = 1'000);

}  // namespace difflab
