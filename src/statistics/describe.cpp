#include "statistics/describe.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "statistics/distributions.h"

namespace difflab {
namespace {

void require_some(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("a statistic of no values");
}

}  // namespace

double mean(std::span<const double> values) {
  require_some(values);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> sample_sd(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double median(std::span<const double> values) {
  require_some(values);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::optional<Interval> t_interval(std::span<const double> values, double level) {
  const auto sd = sample_sd(values);
  if (!sd) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double half = student_t_quantile((1 + level) / 2, n - 1) * *sd / std::sqrt(n);
  const double center = mean(values);
  return Interval{.low = center - half, .high = center + half};
}

}  // namespace difflab
