#include "statistics/shift_test.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "statistics/distributions.h"
#include "statistics/paired.h"
#include "util/random.h"

namespace difflab {
namespace {

constexpr std::size_t kMostCounted = 20;  // of one group: 2^20 sums
constexpr std::int64_t kDrawnWays = std::int64_t{1} << 20;

// For each k the sums of all choices of k values, ascending: a value joins those of one fewer.
std::vector<std::vector<double>> sums_by_size(std::span<const double> values) {
  std::vector<std::vector<double>> sums(values.size() + 1);
  sums[0] = {0};
  for (const double value : values) {
    for (std::size_t k = values.size(); k > 0; --k) {
      std::vector<double> with = sums[k - 1], merged;
      for (double& sum : with) sum += value;
      merged.reserve(with.size() + sums[k].size());
      std::merge(with.begin(), with.end(), sums[k].begin(), sums[k].end(),
                 std::back_inserter(merged));
      sums[k] = std::move(merged);
    }
  }
  return sums;
}

}  // namespace

// Where k of ours change places with k of theirs, the groups lie at least as far apart as they do,
// less the shift, if the mean of those k less that of the other k is at most the shift. So each way
// counts from one shift on, and p is monotone in it.
ShiftTest ShiftTest::unpaired(std::span<const double> ours, std::span<const double> theirs) {
  if (ours.empty() || theirs.empty()) throw std::invalid_argument("a test of an empty group");
  ShiftTest test;
  const auto [low, high] = std::ranges::minmax_element(ours);
  const auto [lowest, highest] = std::ranges::minmax_element(theirs);
  test.center_ = mean(ours) - mean(theirs);
  test.least_ = *low - *highest;
  test.most_ = *high - *lowest;
  for (const auto& values : {ours, theirs}) {
    for (const double value : values) test.rounding_ += 1e-12 * std::abs(value);
  }
  if (std::max(ours.size(), theirs.size()) > kMostCounted) {
    test.draw(ours, theirs);
    return test;
  }
  test.ours_ = sums_by_size(ours);
  test.theirs_ = sums_by_size(theirs);
  for (std::size_t k = 0; k < std::min(test.ours_.size(), test.theirs_.size()); ++k) {
    test.ways_ +=
        static_cast<double>(test.ours_[k].size()) * static_cast<double>(test.theirs_[k].size());
  }
  return test;
}

ShiftTest ShiftTest::paired(std::span<const double> differences) {
  ShiftTest test;
  test.center_ = mean(differences);
  test.differences_ = {differences.begin(), differences.end()};
  const auto [low, high] = std::ranges::minmax_element(differences);
  test.least_ = *low;
  test.most_ = *high;
  test.ways_ = std::exp2(std::min<double>(static_cast<double>(differences.size()), 20));
  return test;
}

void ShiftTest::draw(std::span<const double> ours, std::span<const double> theirs) {
  std::vector<double> all(ours.begin(), ours.end());
  all.insert(all.end(), theirs.begin(), theirs.end());
  Random random{ours.size(), theirs.size()};
  for (std::int64_t way = 0; way < kDrawnWays; ++way) {
    // Sums the values that the dealt way takes from ours, minus those that it puts in their place.
    std::vector<bool> is_dealt(all.size());
    for (const auto i : random.distinct(static_cast<std::int64_t>(ours.size()),
                                        static_cast<std::int64_t>(all.size()))) {
      is_dealt[static_cast<std::size_t>(i)] = true;
    }
    double sum = 0, moved = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool was_ours = i < ours.size();
      if (was_ours == is_dealt[i]) continue;
      sum += was_ours ? all[i] : -all[i];
      moved += was_ours ? 1 : 0;
    }
    moved > 0 ? drawn_.push_back(sum / moved) : void(++unmoved_);
  }
  std::ranges::sort(drawn_);
  ways_ = static_cast<double>(kDrawnWays + 1);
}

double ShiftTest::p_of(double shift, int side) const {
  if (!differences_.empty()) {
    auto left = differences_;
    for (double& difference : left) difference = side * (difference - shift);
    const double half = sign_flip_p(left) / 2;
    return std::accumulate(left.begin(), left.end(), 0.0) > 0 ? half : 1 - half;
  }
  const double limit = side * shift + rounding_;
  double hits = unmoved_;
  if (!drawn_.empty()) {
    const auto edge = std::ranges::partition_point(
        drawn_, [&](double from) { return (side * from <= limit) == (side > 0); });
    const auto those = side > 0 ? edge - drawn_.begin() : drawn_.end() - edge;
    return (hits + static_cast<double>(those)) / ways_;
  }
  const auto &first = side > 0 ? ours_ : theirs_, &second = side > 0 ? theirs_ : ours_;
  for (std::size_t k = 1; k < std::min(first.size(), second.size()); ++k) {
    hits += pairs_up_to(first[k], second[k], static_cast<double>(k) * side * shift + rounding_);
  }
  return hits / ways_;
}

double ShiftTest::p(double shift) const {
  return std::min(1.0, 2 * std::min(p_above(shift), p_below(shift)));
}

double ShiftTest::equivalence_p(double margin) const {
  if (!(margin > 0)) throw std::invalid_argument("a margin must be positive");
  return std::max(p_above(-margin), p_below(margin));
}

// The last shift on the way from the centre that p does not reject; `until` is rejected.
double ShiftTest::end(double from, double until, int side, double alpha) const {
  const auto is_held = [&](double shift) { return p_of(shift, side) > alpha / 2; };
  if (!is_held(from)) return from;
  // No shift is asked first, so that the end cannot lie on its other side by rounding.
  if ((from < 0) != (until < 0)) (is_held(0) ? from : until) = 0;
  const double width = std::max(1e-10, rounding_);
  while (std::abs(from - until) > width) {
    const double middle = from + (until - from) / 2;
    if (middle == from || middle == until) break;
    (is_held(middle) ? from : until) = middle;
  }
  return from;
}

std::optional<Interval> ShiftTest::interval(double alpha) const {
  if (1 / ways_ > alpha / 2) return std::nullopt;
  const double beyond = 1e-9 + (most_ - least_) * 1e-9;
  return Interval{.low = end(center_, least_ - beyond, 1, alpha),
                  .high = end(center_, most_ + beyond, -1, alpha)};
}

double pairing_p(std::span<const double> ours, std::span<const double> theirs,
                 double* correlation) {
  const auto n = static_cast<double>(ours.size());
  if (correlation != nullptr) *correlation = 0;
  if (ours.size() < 2) return 1;
  const double center = (mean(ours) + mean(theirs)) / 2;
  double between = 0, within = 0;  // squares
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double middle = (ours[i] + theirs[i]) / 2 - center, apart = ours[i] - theirs[i];
    between += 2 * middle * middle / (n - 1);
    within += apart * apart / 2 / n;
  }
  if (between + within <= 0) return 1;
  if (correlation != nullptr) *correlation = (between - within) / (between + within);
  return within > 0 ? f_tail(between / within, n - 1, n) : 0;
}

}  // namespace difflab
