#include "statistics/sequential.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "statistics/distributions.h"

namespace difflab {
namespace {

constexpr double kFar = 9;       // standard deviations beyond which nothing is left
constexpr int kIntervals = 400;  // of Simpson's rule

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

/// A walk with normal steps of variance `t` in all, as far as it has not left its bounds.
class Walk {
 public:
  /// The walk goes on to time t; the bound that it then passes upwards with probability `p`.
  double bound(double t, double p) {
    step_ = std::sqrt(t - time_);
    time_ = t;
    const double far = kFar * std::sqrt(t);
    if (p <= above(far)) return far;
    double low = 0, high = far;
    for (int i = 0; i < 200 && high - low > 1e-13 * far; ++i) {
      const double middle = (low + high) / 2;
      (above(middle) > p ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  /// Ends the walks that are beyond ±bound at the time of the last `bound`.
  void stop_beyond(double bound) {
    std::vector<double> places(kIntervals + 1), densities(kIntervals + 1);
    for (int i = 0; i <= kIntervals; ++i) {
      const auto at = static_cast<std::size_t>(i);
      places[at] = bound * (2.0 * i / kIntervals - 1);
      densities[at] = integral(
          [&](double from) { return normal_density((places[at] - from) / step_) / step_; });
    }
    places_ = std::move(places);
    densities_ = std::move(densities);
  }

 private:
  double above(double bound) const {
    return integral([&](double from) { return normal_cdf((from - bound) / step_); });
  }

  /// Of f(place) over the walks before the step; at the start all are at 0.
  template <class Function>
  double integral(Function f) const {
    if (places_.empty()) return f(0.0);
    double sum = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const double weight = i == 0 || i + 1 == places_.size() ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * densities_[i] * f(places_[i]);
    }
    return sum * (places_[1] - places_[0]) / 3;
  }

  double time_ = 0, step_ = 0;
  std::vector<double> places_, densities_;
};

void check_looks(std::span<const double> shares, double alpha) {
  double before = 0;
  for (const double share : shares) {
    if (!(share > before) || share > 1) {
      throw std::invalid_argument("shares of looks have to ascend within 0 and 1");
    }
    before = share;
  }
  if (!(alpha > 0) || !(alpha < 1)) throw std::invalid_argument("alpha has to lie in (0, 1)");
}

}  // namespace

double spent_alpha(double alpha, double t) {
  return 2 * normal_cdf(normal_quantile(alpha / 2) / std::sqrt(t));
}

std::vector<double> levels_of_looks(std::span<const double> shares, double alpha) {
  check_looks(shares, alpha);
  std::vector<double> levels;
  Walk walk;
  double spent = 0;
  for (const double share : shares) {
    const double in_all = spent_alpha(alpha / 2, share);
    const double bound = walk.bound(share, in_all - spent);
    levels.push_back(2 * normal_cdf(-bound / std::sqrt(share)));
    walk.stop_beyond(bound);
    spent = in_all;
  }
  return levels;
}

SequentialQuestions::SequentialQuestions(std::size_t questions, std::span<const double> shares,
                                         double alpha)
    : most_looks_(shares.size()), states_(questions) {
  for (std::size_t among = 1; among <= questions; ++among) {
    levels_.push_back(levels_of_looks(shares, alpha / static_cast<double>(among)));
  }
}

void SequentialQuestions::look(std::span<const TwoWayP> p) {
  if (looks_ == most_looks_) throw std::logic_error("there was the last look already");
  if (p.size() != states_.size()) {
    throw std::invalid_argument("a look has to have a p for each question");
  }
  // Each answer raises the level of those left, which may answer another.
  for (bool changed = true; changed && open() > 0;) {
    changed = false;
    const auto among = static_cast<std::size_t>(std::count_if(
        states_.begin(), states_.end(), [](const State& state) { return state.shares; }));
    const double enough = levels_[among - 1][looks_];
    for (std::size_t i = 0; i < p.size() && !changed; ++i) {
      auto& state = states_[i];
      if (state.answered) continue;
      state.level = enough;
      const bool differs = p[i].difference <= enough;
      const bool is_equal = p[i].equivalence && *p[i].equivalence <= enough;
      state.answered = changed = differs || is_equal;
      state.shares = !(differs && (is_equal || !p[i].equivalence));
    }
  }
  ++looks_;
}

std::size_t SequentialQuestions::open() const {
  return static_cast<std::size_t>(std::count_if(
      states_.begin(), states_.end(), [](const State& state) { return !state.answered; }));
}

}  // namespace difflab
