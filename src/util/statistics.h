#pragma once

#include <cstdint>
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

/// Probability that a Student-t variable with `degrees` > 0 degrees of freedom is at most t,
/// from the regularised incomplete beta function (DLMF 8.17).
double student_t_cdf(double t, double degrees);

/// The inverse of `student_t_cdf` at 0 < probability < 1, to about 1e-12 relative.
double student_t_quantile(double probability, double degrees);

/// The standard normal quantile at 0 < probability < 1.
double normal_quantile(double probability);

/// mean ± t(n − 1) s / √n: covers the mean of a normal population in `level` of all samples.
/// Empty for fewer than two values: one run says nothing about its spread.
std::optional<Interval> t_interval(std::span<const double> values, double level = 0.95);

/// Wilson's score interval for a share of `successes` among `trials` independent tries (1927).
/// Empty for no trials.
std::optional<Interval> wilson_interval(std::int64_t successes, std::int64_t trials,
                                        double level = 0.95);

/// The share of sign patterns of `differences` whose sum is at least as far from zero as theirs:
/// the exact two-sided p of the hypothesis that each difference is as likely + as −. It cannot go
/// below `smallest_sign_flip_p(n)`. Up to 20 differences are enumerated; beyond that 2^20 patterns
/// are drawn, always the same ones, and p = (hits + 1) / (draws + 1).
/// @throws std::invalid_argument if there are no differences.
double sign_flip_p(std::span<const double> differences);

/// 2 / 2^n, what n pairs can show at best; 1 for n = 0.
double smallest_sign_flip_p(std::int64_t pairs);

/// The percentile bootstrap interval of the mean (Efron 1979): the middle `level` of the means of
/// all samples of n drawn with replacement. Up to 6 values all nⁿ of them are counted; beyond that
/// 20,000 are drawn, always the same ones. With few values it is too narrow, unlike the t interval,
/// but it assumes no normal population. Empty for fewer than two values.
std::optional<Interval> bootstrap_interval(std::span<const double> values, double level = 0.95);

/// A variant against the baseline on equal seeds.
struct PairedComparison {
  std::int64_t pairs;
  double difference;                  ///< mean of the differences
  std::optional<Interval> interval;   ///< t interval of the mean difference; empty for one pair
  std::optional<Interval> bootstrap;  ///< bootstrap_interval of the mean difference
  double p;                           ///< sign_flip_p
};

/// Empty if there are no differences.
std::optional<PairedComparison> compare_paired(std::span<const double> differences,
                                               double level = 0.95);

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
