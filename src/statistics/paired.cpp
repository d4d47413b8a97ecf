#include "statistics/paired.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "statistics/distributions.h"
#include "util/random.h"

namespace difflab {
namespace {

constexpr std::size_t kMostEnumerated = 40;
constexpr std::size_t kMostResampled = 6;  // 6^6 = 46,656 samples
constexpr std::size_t kDrawnSamples = 20'000;
constexpr std::int64_t kDrawnPatterns = std::int64_t{1} << 20;

// The means of samples with replacement, ascending.
std::vector<double> resampled_means(std::span<const double> values) {
  const std::size_t n = values.size();
  const bool is_counted = n <= kMostResampled;
  const auto samples = is_counted ? static_cast<std::size_t>(std::pow(n, n)) : kDrawnSamples;
  std::vector<double> means;
  Random random{n};
  for (std::size_t sample = 0; sample < samples; ++sample) {
    double sum = 0;
    for (std::size_t i = 0, rest = sample; i < n; ++i, rest /= n) {
      sum +=
          values[is_counted ? rest % n
                            : static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)))];
    }
    means.push_back(sum / static_cast<double>(n));
  }
  std::ranges::sort(means);
  return means;
}

// All sums of the values with a sign each, ascending: two sorted lists are merged for each value.
std::vector<double> signed_sums(std::span<const double> values) {
  std::vector<double> sums{0};
  for (const double value : values) {
    auto minus = sums, plus = sums;
    for (double& sum : minus) sum -= std::abs(value);
    for (double& sum : plus) sum += std::abs(value);
    sums.resize(2 * sums.size());
    std::merge(minus.begin(), minus.end(), plus.begin(), plus.end(), sums.begin());
  }
  return sums;
}

// The share of all sign patterns whose sum is at least `threshold` away from zero, from the sums of
// two halves of the differences: 2 · 2^(n/2) steps instead of 2^n.
double counted_flips(std::span<const double> differences, double threshold) {
  if (threshold <= 0) return 1;
  const auto half = differences.size() / 2;
  const auto first = signed_sums(differences.first(half));
  const auto second = signed_sums(differences.subspan(half));
  // Both lists hold each sum with either sign, so that as many pairs have first − second so low.
  const double hits = pairs_up_to(first, second, -threshold);
  // As many are as far below zero: each pattern has its mirror image.
  return 2 * hits / (static_cast<double>(first.size()) * static_cast<double>(second.size()));
}

// The sums of eight differences, the last ones perhaps of fewer, under each of the 256 patterns of
// their signs: a bit that is set stands for −.
std::vector<std::array<double, 256>> sums_of_eights(std::span<const double> differences) {
  std::vector<std::array<double, 256>> groups((differences.size() + 7) / 8);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    auto& sums = groups[i / 8];
    for (std::size_t pattern = 0; pattern < sums.size(); ++pattern) {
      sums[pattern] += pattern >> (i % 8) & 1 ? -differences[i] : differences[i];
    }
  }
  return groups;
}

double drawn_flips(std::span<const double> differences, double threshold) {
  const auto groups = sums_of_eights(differences);
  std::int64_t hits = 0;
  Random random{differences.size()};
  for (std::int64_t draw = 0; draw < kDrawnPatterns; ++draw) {
    double sum = 0;
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < groups.size(); ++i, signs >>= 8) {
      if (i % 8 == 0) signs = random.next();
      sum += groups[i][signs & 0xFF];
    }
    if (std::abs(sum) >= threshold) ++hits;
  }
  return static_cast<double>(hits + 1) / static_cast<double>(kDrawnPatterns + 1);
}

}  // namespace

double pairs_up_to(const std::vector<double>& first, const std::vector<double>& second,
                   double most) {
  double pairs = 0;
  std::size_t from = 0;  // the larger the first, the later those of the second begin
  for (const double sum : first) {
    while (from < second.size() && sum - second[from] > most) ++from;
    if (from == second.size()) break;
    pairs += static_cast<double>(second.size() - from);
  }
  return pairs;
}

double sign_flip_p(std::span<const double> differences) {
  if (differences.empty()) throw std::invalid_argument("a test of no differences");
  double observed = 0, scale = 0;
  for (const double difference : differences) {
    observed += difference;
    scale += std::abs(difference);
  }
  // Patterns that tie with the observed one in exact arithmetic must not be lost to rounding.
  const double threshold = std::abs(observed) - 1e-12 * scale;
  return differences.size() <= kMostEnumerated ? counted_flips(differences, threshold)
                                               : drawn_flips(differences, threshold);
}

double smallest_sign_flip_p(std::int64_t pairs) {
  return std::ldexp(2.0, -static_cast<int>(std::max<std::int64_t>(pairs, 1)));
}

std::optional<Interval> bca_interval(std::span<const double> values, double level) {
  if (values.size() < 2) return std::nullopt;
  const double center = mean(values);
  const auto means = resampled_means(values);
  if (means.front() == means.back()) return Interval{.low = center, .high = center};
  // The share of means below that of the values; ties count half.
  const auto size = static_cast<double>(means.size());
  const auto below = std::ranges::lower_bound(means, center) - means.begin();
  const auto until = std::ranges::upper_bound(means, center) - means.begin();
  const double share = static_cast<double>(below + until) / (2 * size);
  const double bias = normal_quantile(std::clamp(share, 0.5 / size, 1 - 0.5 / size));
  // Leaving out one value moves the mean against that value.
  double cubes = 0, squares = 0;
  for (const double value : values) {
    const double influence = value - center;
    cubes += influence * influence * influence;
    squares += influence * influence;
  }
  const double acceleration = cubes / (6 * std::pow(squares, 1.5));
  const auto end = [&](double probability) {
    const double z = bias + normal_quantile(probability);
    const double at = normal_cdf(bias + z / (1 - acceleration * z)) * size;
    return means[static_cast<std::size_t>(std::clamp(at, 0.0, size - 1))];
  };
  return Interval{.low = end((1 - level) / 2), .high = end((1 + level) / 2)};
}

double equivalence_p(std::span<const double> differences, double margin) {
  if (!(margin > 0)) throw std::invalid_argument("a margin must be positive");
  const auto sd = sample_sd(differences);
  if (!sd) return 1;
  const double center = mean(differences);
  const auto n = static_cast<double>(differences.size());
  if (*sd == 0) return std::abs(center) < margin ? std::exp2(-n) : 1;
  const double error = *sd / std::sqrt(n);
  return std::max(student_t_cdf(-(center + margin) / error, n - 1),
                  student_t_cdf((center - margin) / error, n - 1));
}

double equivalence_p(std::int64_t differing, std::int64_t pairs, double margin) {
  if (!(margin > 0)) throw std::invalid_argument("a margin must be positive");
  if (margin >= 1) return differing < pairs ? 0 : 1;
  double p = 0;
  for (std::int64_t k = 0; k <= differing; ++k) {
    p += std::exp(log_binomial(pairs, k) + static_cast<double>(k) * std::log(margin) +
                  static_cast<double>(pairs - k) * std::log1p(-margin));
  }
  return std::min(p, 1.0);
}

std::optional<std::int64_t> pairs_needed(std::span<const double> differences, double alpha,
                                         double power, std::int64_t most) {
  const auto sd = sample_sd(differences);
  if (!sd) return std::nullopt;
  const double effect = std::abs(mean(differences)) / *sd;
  const auto enough = [&](std::int64_t n) {
    const auto pairs = static_cast<double>(n);
    const double shift = effect * std::sqrt(pairs);
    return normal_cdf(shift - student_t_quantile(1 - alpha / 2, pairs - 1)) >= power &&
           smallest_sign_flip_p(n) <= alpha;
  };
  if (!enough(most)) return std::nullopt;
  std::int64_t few = 1, many = most;  // `few` are not enough
  while (many - few > 1) {
    const auto middle = few + (many - few) / 2;
    (enough(middle) ? many : few) = middle;
  }
  return many;
}

}  // namespace difflab
