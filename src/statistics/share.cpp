#include "statistics/share.h"

#include <algorithm>
#include <cmath>

#include "statistics/distributions.h"

namespace difflab {

std::optional<Interval> wilson_interval(std::int64_t successes, std::int64_t trials, double level) {
  if (trials <= 0) return std::nullopt;
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double z = normal_quantile((1 + level) / 2);
  const double scale = 1 + z * z / n;
  const double center = (share + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return Interval{.low = successes == 0 ? 0 : center - half,
                  .high = successes == trials ? 1 : center + half};
}

std::optional<Interval> mean_share_interval(std::span<const double> shares, double level) {
  const auto sd = sample_sd(shares);
  if (!sd) return std::nullopt;
  const double share = mean(shares);
  if (*sd == 0) return Interval{.low = share, .high = share};
  const auto n = static_cast<double>(shares.size());
  const double t = student_t_quantile((1 + level) / 2, n - 1);
  const double variance = share * (1 - share);
  const double c = t * t * (*sd * *sd / variance) / n;
  const double half = std::sqrt(c * variance + c * c / 4);
  return Interval{.low = std::max(0.0, (share + c / 2 - half) / (1 + c)),
                  .high = std::min(1.0, (share + c / 2 + half) / (1 + c))};
}

std::optional<Interval> share_difference_interval(std::span<const double> differences,
                                                  double level) {
  const auto sd = sample_sd(differences);
  if (!sd) return std::nullopt;
  const double difference = mean(differences);
  if (*sd == 0) return Interval{.low = difference, .high = difference};
  const auto n = static_cast<double>(differences.size());
  const double half = student_t_quantile((1 + level) / 2, n - 1) * *sd / std::sqrt(n) /
                      (1 - difference * difference);  // the slope of artanh
  const double center = std::atanh(difference);
  return Interval{.low = std::tanh(center - half), .high = std::tanh(center + half)};
}

double mcnemar_p(std::int64_t only_first, std::int64_t only_second) {
  const auto pairs = only_first + only_second;
  double tail = 0;
  for (std::int64_t k = 0; k <= std::min(only_first, only_second); ++k) {
    tail += std::exp(log_binomial(pairs, k) - static_cast<double>(pairs) * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace difflab
