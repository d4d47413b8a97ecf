#pragma once

#include <cstdint>

namespace difflab {

/// Probability that a Student-t variable with `degrees` > 0 degrees of freedom is at most t,
/// from the regularised incomplete beta function (DLMF 8.17).
double student_t_cdf(double t, double degrees);

/// The inverse of `student_t_cdf` at 0 < probability < 1, to about 1e-12 relative.
double student_t_quantile(double probability, double degrees);

/// The standard normal quantile at 0 < probability < 1.
double normal_quantile(double probability);

/// Probability that a standard normal variable is at most z.
double normal_cdf(double z);

/// Probability that a χ² variable with one degree of freedom is above x >= 0.
double chi_squared_tail(double x);

/// Probability that an F variable with these degrees of freedom is above x >= 0.
double f_tail(double x, double between, double within);

/// log n choose k, 0 <= k <= n.
double log_binomial(std::int64_t n, std::int64_t k);

}  // namespace difflab
