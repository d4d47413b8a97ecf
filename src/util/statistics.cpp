#include "util/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "util/random.h"

namespace difflab {
namespace {

constexpr std::size_t kMostEnumerated = 20;
constexpr std::size_t kMostResampled = 6;  // 6^6 = 46,656 samples
constexpr std::size_t kDrawnSamples = 20'000;
constexpr std::int64_t kDrawnPatterns = std::int64_t{1} << kMostEnumerated;

void require_some(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("a statistic of no values");
}

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

// The t >= 0 with this upper tail: bracket, then bisect until the two ends are neighbours.
double upper_quantile(double tail, double degrees) {
  double low = 0;
  double high = 1;
  while (upper_tail(high, degrees) > tail) {
    low = high;
    high *= 2;
  }
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (upper_tail(middle, degrees) > tail ? low : high) = middle;
  }
}

void require_probability(double probability) {
  if (!(probability > 0 && probability < 1)) {
    throw std::invalid_argument("a quantile needs a probability between 0 and 1");
  }
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
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

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
  double low = -40;
  double high = 40;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < probability ? low : high) = middle;
  }
}

std::optional<Interval> t_interval(std::span<const double> values, double level) {
  const auto sd = sample_sd(values);
  if (!sd) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double half = student_t_quantile((1 + level) / 2, n - 1) * *sd / std::sqrt(n);
  const double center = mean(values);
  return Interval{.low = center - half, .high = center + half};
}

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

double sign_flip_p(std::span<const double> differences) {
  require_some(differences);
  double observed = 0;
  double scale = 0;
  for (const double difference : differences) {
    observed += difference;
    scale += std::abs(difference);
  }
  // Patterns that tie with the observed one in exact arithmetic must not be lost to rounding.
  const double threshold = std::abs(observed) - 1e-12 * scale;
  const auto n = differences.size();
  std::int64_t hits = 0;
  if (n <= kMostEnumerated) {
    // A pattern and its mirror image are equally extreme, so half of them suffice.
    const std::uint64_t patterns = std::uint64_t{1} << (n - 1);
    for (std::uint64_t signs = 0; signs < patterns; ++signs) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i)
        sum += (signs >> i) & 1 ? -differences[i] : differences[i];
      if (std::abs(sum) >= threshold) ++hits;
    }
    return static_cast<double>(hits) / static_cast<double>(patterns);
  }
  Random random{n};
  for (std::int64_t draw = 0; draw < kDrawnPatterns; ++draw) {
    double sum = 0;
    for (const double difference : differences) sum += random.next() & 1 ? -difference : difference;
    if (std::abs(sum) >= threshold) ++hits;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(kDrawnPatterns + 1);
}

double smallest_sign_flip_p(std::int64_t pairs) {
  return std::ldexp(2.0, -static_cast<int>(std::max<std::int64_t>(pairs, 1)));
}

std::optional<Interval> bootstrap_interval(std::span<const double> values, double level) {
  const std::size_t n = values.size();
  if (n < 2) return std::nullopt;
  std::vector<double> means;
  if (n <= kMostResampled) {
    std::size_t samples = 1;
    for (std::size_t i = 0; i < n; ++i) samples *= n;
    for (std::size_t sample = 0; sample < samples; ++sample) {
      double sum = 0;
      for (std::size_t i = 0, rest = sample; i < n; ++i, rest /= n) sum += values[rest % n];
      means.push_back(sum / static_cast<double>(n));
    }
  } else {
    Random random{n};
    for (std::size_t sample = 0; sample < kDrawnSamples; ++sample) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)))];
      }
      means.push_back(sum / static_cast<double>(n));
    }
  }
  std::sort(means.begin(), means.end());
  const double tail = (1 - level) / 2 * static_cast<double>(means.size());
  const auto rank = std::max<std::size_t>(static_cast<std::size_t>(std::ceil(tail)), 1);
  return Interval{.low = means[rank - 1], .high = means[means.size() - rank]};
}

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

std::optional<PairedComparison> compare_paired(std::span<const double> differences, double level) {
  if (differences.empty()) return std::nullopt;
  return PairedComparison{.pairs = static_cast<std::int64_t>(differences.size()),
                          .difference = mean(differences),
                          .interval = t_interval(differences, level),
                          .bootstrap = bootstrap_interval(differences, level),
                          .p = sign_flip_p(differences)};
}

}  // namespace difflab
