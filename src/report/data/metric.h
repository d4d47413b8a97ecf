#pragma once

#include <limits>
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

/// How a metric is printed. One list of them (metric.cpp) serves tables, figures and the page.
struct Metric {
  std::string key;      ///< as in result.json or metrics.jsonl
  std::string heading;  ///< e.g. "needle accuracy"
  std::string unit;     ///< e.g. "s"; empty for shares and counts
  Better better = Better::kNeither;
  std::optional<int> decimals;  ///< empty: four significant digits
  bool is_share = false;        ///< lies between 0 and 1
  bool is_fixed = false;  ///< a property of the configuration: printed without ± if all agree
  /// No value lies below.
  double least = -std::numeric_limits<double>::infinity();

  Outcome outcome() const;

  /// True if it measures what a run has learned: no property of the configuration or of the start,
  /// no speed or size of memory, nor when or whether the run learned.
  bool is_of_learned() const;

  bool is_time() const;  ///< the key ends in _seconds or _per_second
  /// True if it is a time or a speed of any kind, which depends on the machine, too.
  bool is_of_machine() const;
  /// True if it changes when the same run is executed again on the same machine: times, speeds,
  /// peak memory.
  bool is_measured() const;

  std::string text(double value) const;         ///< a number in this metric's format
  std::string signed_text(double value) const;  ///< the same of a difference: +0.1, −0.1
};

/// Makes metrics known by what their evaluations say of them, once, before any is asked for.
void declare_metrics(std::vector<MetricFacts> facts);

/// The metric of this key: one that every run has, one that was declared (also with a name before
/// it, as that of an evaluation), or what its name lets expect. Its key is made readable.
Metric metric_of(std::string_view key);

/// The 95 % interval of the mean of `values`, as the metric's kind of outcome wants it. It stays
/// within the metric's range, in which the mean lies. Empty if there are too few values.
std::optional<Interval> interval_of_mean(std::span<const double> values, const Metric& metric);

/// The interval of the mean of paired differences: of shares on Fisher's z scale, so that it stays
/// within −1 and 1. Empty if there are too few.
std::optional<Interval> interval_of_difference(std::span<const double> differences,
                                               const Metric& metric, double level = 0.95);

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
