#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "statistics/describe.h"

namespace difflab::report {

/// A metric of runs that agree in everything but the compared axes, ours minus theirs.
struct Pairs {
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> differences;
  /// Pairs of which one is known only to exceed a bound. All are compared up to the lowest bound,
  /// the horizon: min(value, horizon), whose mean is the restricted mean.
  std::size_t censored = 0;
  std::optional<double> horizon;
  std::size_t unlearned = 0;  ///< pairs left out, as one of the two has not learned the task
  std::size_t diverged = 0;   ///< pairs left out, as one of the two diverged and has no such metric
  std::size_t missing = 0;    ///< pairs of which a run is planned and has no result yet
  double latest = 0;          ///< of the times that were reached, whatever the horizon
};

/// Pairs the runs of `ours` with those of `theirs` on equal values of all axes but `compared`: the
/// same seed, and so the same data and the same start. Runs that have not learned (learned.h) are
/// asked for what they have learned, and when, alone; runs without a result for nothing.
Pairs pair_runs(const Frame& frame, const std::vector<const FrameRun*>& ours,
                const std::vector<const FrameRun*>& theirs,
                const std::vector<std::string>& compared, const Metric& metric);

/// Two variants on equal seeds, compared as the metric's kind of outcome wants it.
struct Contrast {
  std::size_t pairs = 0;
  double ours = 0, theirs = 0, difference = 0;  ///< means; of times up to the horizon
  std::optional<Interval> interval;  ///< of the difference, within its range; empty for one pair
  double p = 1;                      ///< exact: McNemar for what happened or not, else sign-flip
};

/// Whether so many of all pairs are lost that the others are no answer for all: more than a tenth.
bool are_too_many(std::size_t lost, std::size_t all);

/// Empty if there are no pairs.
std::optional<Contrast> contrast(const Pairs& pairs, const Metric& metric);

bool excludes_zero(const Contrast& found);  ///< the interval

/// The p of the two one-sided tests that the difference is at least the margin, as the metric's
/// kind of outcome wants it (statistics/paired.h).
double equivalence_p(const Pairs& pairs, const Metric& metric, double margin);

/// Whether p, adjusted for the number of questions, and the interval agree that there is a
/// difference.
bool is_resolved(const Contrast& found, double adjusted_p);

/// The pairs that a verdict needs at least, when `questions` are answered together: 8, or 16 of
/// what happens or not, and so many that the smallest p there is can be found.
std::size_t pairs_for_verdict(const Metric& metric, std::size_t questions);

}  // namespace difflab::report
