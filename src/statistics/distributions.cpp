#include "statistics/distributions.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace difflab {
namespace {

// The continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      step = c * d;
      fraction *= step;
    }
    if (std::abs(step - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return fraction;
}

// I_x(a, b); y is 1 − x, handed in because it may be too small to compute by subtraction.
double incomplete_beta(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(y));
  // The fraction converges fast on this side of the mean; the other side is its mirror image.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, y) / b;
}

// P(T > t) for t >= 0.
double upper_tail(double t, double degrees) {
  const double square = t * t;
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + square),
                         square / (degrees + square)) /
         2;
}

// Where `is_before` ends between low and high, bisected until the two are neighbours.
double edge(double low, double high, const auto& is_before) {
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (is_before(middle) ? low : high) = middle;
  }
}

// The t >= 0 with this upper tail.
double upper_quantile(double tail, double degrees) {
  const auto is_before = [&](double t) { return upper_tail(t, degrees) > tail; };
  double low = 0, high = 1;
  for (; is_before(high); high *= 2) low = high;
  return edge(low, high, is_before);
}

void require_probability(double probability) {
  if (!(probability > 0 && probability < 1)) {
    throw std::invalid_argument("a quantile needs a probability between 0 and 1");
  }
}

}  // namespace

double student_t_cdf(double t, double degrees) {
  const double tail = upper_tail(std::abs(t), degrees);
  return t < 0 ? tail : 1 - tail;
}

double student_t_quantile(double probability, double degrees) {
  require_probability(probability);
  if (!(degrees > 0)) throw std::invalid_argument("degrees of freedom must be positive");
  if (probability == 0.5) return 0;
  if (probability < 0.5) return -upper_quantile(probability, degrees);
  return upper_quantile(1 - probability, degrees);
}

double normal_quantile(double probability) {
  require_probability(probability);
  return edge(-40, 40, [&](double z) { return normal_cdf(z) < probability; });
}

double normal_cdf(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

double chi_squared_tail(double x) { return std::erfc(std::sqrt(x / 2)); }

double f_tail(double x, double between, double within) {
  const double all = within + between * x;
  return incomplete_beta(within / 2, between / 2, within / all, between * x / all);
}

double log_binomial(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t m) { return std::lgamma(static_cast<double>(m) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace difflab
