#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/data/config_types.h"
#include "statistics/describe.h"
#include "statistics/metric_facts.h"

namespace difflab::report {

/// False verdicts are at most this likely in an experiment, all claims together.
constexpr double kAlpha = 0.05;

/// A metric whose name begins so is a source's, printed as it stands there.
constexpr std::string_view kPublished = "published_";

/// The logarithm of a time, of which geometric means are made; a time of 0 counts as 1.
double log_of_time(double time);

/// Suffix of a metric's key in the CSV of a figure with `against`: variant minus `against`.
constexpr std::string_view kDifferenceSuffix = "_difference";

/// A metric under its key in a run's result or curve, with all that is known of it.
struct Metric : MetricFacts {
  std::string key;
  std::string heading;  ///< e.g. "needle accuracy"

  bool is_share() const { return outcome == Outcome::kShare || outcome == Outcome::kHappened; }

  /// True if it measures what a run has learned: no property of the configuration or of the start,
  /// no speed or size of memory, nor when or whether the run learned.
  bool is_of_learned() const;

  /// True if it is a time or a speed of the training, by the way.
  bool is_time() const { return of_machine == OfMachine::kTraining; }
  /// True if it is a time or a speed of any kind, which depends on the machine, too.
  bool is_of_machine() const { return of_machine >= OfMachine::kSpeed; }
  /// True if it changes when the same run is executed again on the same machine.
  bool is_measured() const { return of_machine != OfMachine::kNothing; }

  std::string text(double value) const;         ///< a number in this metric's format
  std::string signed_text(double value) const;  ///< the same of a difference: +0.1, −0.1
};

/// Makes metrics known by what their evaluations say of them, once, before any is asked for.
void declare_metrics(std::vector<MetricFacts> facts);

/// The metric of this key as it was declared, also with the name of an evaluation before it, a step
/// of the training or kDifferenceSuffix behind it. Of an undeclared one no more is known than its
/// key made readable.
Metric metric_of(std::string_view key);

/// The 95 % interval of the mean of `values`, as the metric's kind of outcome wants it. It stays
/// within the metric's range, in which the mean lies. Empty if there are too few values.
std::optional<Interval> interval_of_mean(std::span<const double> values, const Metric& metric);

/// The interval of the mean of paired differences: of shares on Fisher's z scale, so that it stays
/// within −1 and 1. Empty if there are too few.
std::optional<Interval> interval_of_difference(std::span<const double> differences,
                                               const Metric& metric);

/// Names made readable: the user's label if there is one, else "diff_lambda_0.8" → "diff λ 0.8",
/// "model.lambda_init" → "λ_init".
class Labels {
 public:
  /// @param keys that appear together: of those whose short names are the same, each has its whole
  /// path, "short.ctx recall loss"
  explicit Labels(const TextMap& user, const std::vector<std::string>& keys = {});
  std::string value(std::string_view axis_value) const;
  std::string axis(std::string_view axis) const;
  std::string heading(const Metric& metric) const;     ///< without unit
  std::string axis_title(const Metric& metric) const;  ///< with unit

 private:
  const TextMap& user_;
  std::set<std::string> ambiguous_;
};

}  // namespace difflab::report
