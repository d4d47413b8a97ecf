#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "statistics/describe.h"

namespace difflab {

/// When something happened, or until when it had not.
struct Lifetime {
  double time;
  bool happened = true;  ///< false: censored at `time`
};

/// One step of a Kaplan–Meier curve.
struct SurvivalStep {
  double time;
  std::int64_t at_risk;  ///< just before
  std::int64_t events;
  double survival;  ///< from here on
  double error;     ///< standard error of it (Greenwood); 0 where survival is 0
};

/// How many are still on their way just before `time`.
std::int64_t at_risk(std::span<const Lifetime> lifetimes, double time);

/// The product-limit estimate (Kaplan & Meier 1958): a step at every time at which it happened.
std::vector<SurvivalStep> kaplan_meier(std::span<const Lifetime> lifetimes);

/// The first time at which less than half are left; where exactly half are for a while, the middle
/// of that while. Without censored lifetimes it is their median. Empty if it was not seen.
std::optional<double> median_lifetime(std::span<const Lifetime> lifetimes);

/// The times whose survival cannot be told from one half (Brookmeyer & Crowley 1982, on the scale
/// log(−log S)). Infinite at the right end if the curve ends among them; empty if there are none.
std::optional<Interval> median_lifetime_interval(std::span<const Lifetime> lifetimes,
                                                 double level = 0.95);

/// The mean of min(time, horizon), the area under the curve up to there, and its standard error.
struct RestrictedMean {
  double mean;
  double error;
};
RestrictedMean restricted_mean(std::span<const Lifetime> lifetimes, double horizon);

/// The p of the log-rank test (Mantel 1966) that two groups have the same curve; 1 if nothing
/// happened in them.
double log_rank_p(std::span<const Lifetime> first, std::span<const Lifetime> second);

}  // namespace difflab
