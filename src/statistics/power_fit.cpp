#include "statistics/power_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "statistics/distributions.h"

namespace difflab {

double PowerFit::at(double x) const { return a * std::pow(x, -b); }

double PowerFit::x_at(double y) const { return std::pow(a / y, 1 / b); }

std::optional<PowerFit> fit_power(std::span<const double> x, std::span<const double> y) {
  std::vector<double> log_x;
  std::vector<double> log_y;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!(x[i] > 0) || !(y[i] > 0)) continue;
    log_x.push_back(std::log(x[i]));
    log_y.push_back(std::log(y[i]));
  }
  if (log_x.empty()) return std::nullopt;
  const double center_x = mean(log_x);
  const double center_y = mean(log_y);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < log_x.size(); ++i) {
    xx += (log_x[i] - center_x) * (log_x[i] - center_x);
    xy += (log_x[i] - center_x) * (log_y[i] - center_y);
  }
  if (!(xx > 0)) return std::nullopt;
  const double slope = xy / xx;
  PowerFit fit{.a = std::exp(center_y - slope * center_x), .b = -slope, .b_interval = std::nullopt};
  if (log_x.size() == 2) return fit;
  double squares = 0;
  for (std::size_t i = 0; i < log_x.size(); ++i) {
    const double rest = log_y[i] - center_y - slope * (log_x[i] - center_x);
    squares += rest * rest;
  }
  const auto degrees = static_cast<double>(log_x.size() - 2);
  const double half = student_t_quantile(0.975, degrees) * std::sqrt(squares / degrees / xx);
  fit.b_interval = Interval{.low = fit.b - half, .high = fit.b + half};
  return fit;
}

}  // namespace difflab
