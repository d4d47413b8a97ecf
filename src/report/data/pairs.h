#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "statistics/describe.h"
#include "statistics/shift_test.h"

namespace difflab::report {

/// A metric of runs that agree in everything but the compared axes, ours minus theirs.
struct Pairs {
  /// True if ours are compared with theirs as ratios: all three lists then hold logarithms, and a
  /// time of 0 counts as 1.
  bool is_ratio = false;
  std::vector<double> ours, theirs, differences;
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
  double ours = 0, theirs = 0;  ///< means, of ratios geometric ones; of times up to the horizon
  double difference = 0;        ///< of ratios the logarithm of theirs
  /// Bounds of the difference, within its range; empty for few pairs.
  std::optional<Interval> interval = {};
  double p = 1;  ///< exact: McNemar, sign flips, of ratios see LogTimes
  bool is_ratio = false;
  std::string test = {};  ///< of ratios: which, and why, as a clause
};

/// The exact test of log times. It permutes all runs, or flips the signs of pairs where these are
/// alike: at least `kFewestFlipped` pairs whose intraclass correlation has p ≤ `kAlike`. That
/// correlation is blind to which of a pair is whose, as sign flips are, so that these stay exact
/// where it has chosen them. The choice can add a hundredth to the probability of a false
/// rejection at most, and p is larger by that much.
class LogTimes {
 public:
  static constexpr std::size_t kFewestFlipped = 12;
  static constexpr double kAlike = 0.01;

  explicit LogTimes(const Pairs& pairs);

  double p(double shift = 0) const { return paid(test_.p(shift)); }
  double equivalence_p(double margin) const { return paid(test_.equivalence_p(margin)); }
  std::optional<Interval> interval() const { return test_.interval(kAlpha / (1 + kAlike)); }
  std::string reason() const;

 private:
  static double paid(double p) { return std::min(1.0, (1 + kAlike) * p); }

  std::size_t pairs_;
  double correlation_ = 0, pairing_p_;
  bool is_paired_;
  ShiftTest test_;
};

/// True if more than a tenth of all pairs is lost: too many for the rest to answer for all.
bool are_too_many(std::size_t lost, std::size_t all);

/// Empty if there are no pairs.
std::optional<Contrast> contrast(const Pairs& pairs, const Metric& metric);

/// The p of the two one-sided tests that the difference is at least the margin, as the metric's
/// kind of outcome wants it (statistics/paired.h). A margin of ratios is a share.
double equivalence_p(const Pairs& pairs, const Metric& metric, double margin);

/// The exact p that the difference is at most the margin; 1 of what happens or not.
double beyond_margin_p(const Pairs& pairs, const Metric& metric, double margin);

/// "+12.5", of the logarithm of a ratio "0.65"; both ends "0.60 to 0.71", "" without an interval.
std::string effect_text(const Metric& metric, double effect, bool is_ratio);
std::string range_text(const Metric& metric, const std::optional<Interval>& range,
                       bool is_ratio = false, std::string_view between = " to ");

/// True if p, adjusted for the number of questions, and the interval agree that there is a
/// difference.
bool is_resolved(const Contrast& found, double adjusted_p);

/// The pairs that a verdict needs at least, when `questions` are answered together: 8, or 16 of
/// what happens or not, and so many that the smallest p there is can be found.
std::size_t pairs_for_verdict(const Metric& metric, std::size_t questions,
                              const TimesConfig& times = {});

/// True if the metric is a time to an event, and `times` compares these as ratios.
bool is_ratio(const Metric& metric, const TimesConfig& times);

}  // namespace difflab::report
