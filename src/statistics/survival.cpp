#include "statistics/survival.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "statistics/distributions.h"

namespace difflab {
namespace {

std::int64_t events_at(std::span<const Lifetime> lifetimes, double time) {
  return std::ranges::count_if(
      lifetimes, [&](const Lifetime& one) { return one.happened && one.time == time; });
}

std::set<double> event_times(std::span<const Lifetime> lifetimes) {
  std::set<double> times;
  for (const auto& one : lifetimes) {
    if (one.happened) times.insert(one.time);
  }
  return times;
}

}  // namespace

std::int64_t at_risk(std::span<const Lifetime> lifetimes, double time) {
  return std::ranges::count_if(lifetimes, [&](const Lifetime& one) { return one.time >= time; });
}

std::vector<SurvivalStep> kaplan_meier(std::span<const Lifetime> lifetimes) {
  std::vector<SurvivalStep> steps;
  double survival = 1, sum = 0;  // of events / (at risk · survivors)
  for (const double time : event_times(lifetimes)) {
    const auto n = at_risk(lifetimes, time), d = events_at(lifetimes, time);
    survival *= static_cast<double>(n - d) / static_cast<double>(n);
    if (n == d) survival = 0;
    if (n > d)
      sum += static_cast<double>(d) / (static_cast<double>(n) * static_cast<double>(n - d));
    steps.push_back({time, n, d, survival, survival * std::sqrt(sum)});
  }
  return steps;
}

std::optional<double> median_lifetime(std::span<const Lifetime> lifetimes) {
  const auto steps = kaplan_meier(lifetimes);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].survival > 0.5 + 1e-12) continue;
    if (steps[i].survival < 0.5 - 1e-12) return steps[i].time;
    if (i + 1 == steps.size()) break;
    return (steps[i].time + steps[i + 1].time) / 2;
  }
  return std::nullopt;
}

std::optional<Interval> median_lifetime_interval(std::span<const Lifetime> lifetimes,
                                                 double level) {
  const auto steps = kaplan_meier(lifetimes);
  const double z = normal_quantile((1 + level) / 2);
  const auto scaled = [](double survival) { return std::log(-std::log(survival)); };
  std::optional<Interval> interval;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [time, n, d, survival, error] = steps[i];
    if (survival <= 0 || survival >= 1) continue;
    const double slope = 1 / (survival * std::abs(std::log(survival)));
    if (std::abs(scaled(survival) - scaled(0.5)) > z * slope * error) continue;
    const bool last = i + 1 == steps.size();
    const double until = last ? std::numeric_limits<double>::infinity() : steps[i + 1].time;
    if (!interval) interval = Interval{time, until};
    interval->high = until;
  }
  return interval;
}

RestrictedMean restricted_mean(std::span<const Lifetime> lifetimes, double horizon) {
  const auto steps = kaplan_meier(lifetimes);
  // The area behind each step, from the last one backwards.
  double area = 0, variance = 0, until = horizon;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->time >= horizon) continue;
    area += step->survival * (until - step->time);
    until = step->time;
    const auto n = static_cast<double>(step->at_risk), d = static_cast<double>(step->events);
    if (n > d) variance += area * area * d / (n * (n - d));
  }
  return {area + until, std::sqrt(variance)};
}

double log_rank_p(std::span<const Lifetime> first, std::span<const Lifetime> second) {
  auto times = event_times(first);
  times.merge(event_times(second));
  double difference = 0, variance = 0;
  for (const double time : times) {
    const auto n1 = static_cast<double>(at_risk(first, time));
    const auto n = n1 + static_cast<double>(at_risk(second, time));
    const auto d1 = static_cast<double>(events_at(first, time));
    const auto d = d1 + static_cast<double>(events_at(second, time));
    difference += d1 - d * n1 / n;
    if (n > 1) variance += d * (n1 / n) * (1 - n1 / n) * (n - d) / (n - 1);
  }
  return variance > 0 ? chi_squared_tail(difference * difference / variance) : 1;
}

}  // namespace difflab
