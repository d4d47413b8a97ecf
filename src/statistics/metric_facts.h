#pragma once

#include <limits>
#include <optional>
#include <string_view>

namespace difflab {

enum class Better { kHigher, kLower, kNeither };

/// Kind of a measured quantity, which decides how runs are averaged and compared.
enum class Outcome {
  kMeasure,      ///< a loss, a norm, a count: t intervals, sign-flip test
  kShare,        ///< between 0 and 1: intervals that stay there
  kHappened,     ///< 1 or 0 of a run: counted, with Wilson's interval; McNemar's test
  kTimeToEvent,  ///< steps or seconds, censored where it never came: restricted means
};

/// How far a metric depends on the machine, each more than the one before.
enum class OfMachine {
  kNothing,
  kMemory,    ///< peak memory, which changes when the same run is executed again
  kSpeed,     ///< a time or a speed that an evaluation measures
  kTraining,  ///< a time or a speed of the training itself, compared only if asked for
};

/// All that is known of a metric before anything is measured, declared once, beside the code that
/// measures it.
struct MetricFacts {
  std::string_view name;  ///< a * stands for a number or the name of a part
  Outcome outcome = Outcome::kMeasure;
  Better better = Better::kNeither;
  double least = -std::numeric_limits<double>::infinity();  ///< no value and no mean lies below
  std::optional<int> decimals = {};                         ///< empty: four significant digits
  std::string_view label = {};  ///< heading; empty: the name, made readable
  std::string_view unit = {};   ///< e.g. "s"; empty for shares and counts
  OfMachine of_machine = OfMachine::kNothing;
  bool is_fixed = false;    ///< a property of the configuration: printed without ± if all agree
  bool is_initial = false;  ///< measures nothing learned: gradients at the start, a cache's size
};

/// A share of something, between 0 and 1.
constexpr MetricFacts share_metric(std::string_view name, Better better = Better::kNeither,
                                   std::string_view label = {}) {
  return {name, Outcome::kShare, better, 0, 3, label};
}
constexpr MetricFacts loss_metric(std::string_view name, std::string_view label = {}) {
  return {name, Outcome::kMeasure, Better::kLower, 0, 4, label};
}
/// Something else that cannot be negative, such as a norm or a distance.
constexpr MetricFacts positive_metric(std::string_view name, std::optional<int> decimals = {},
                                      std::string_view label = {}, std::string_view unit = {}) {
  return {name, Outcome::kMeasure, Better::kNeither, 0, decimals, label, unit};
}
/// Tokens a second.
constexpr MetricFacts speed_metric(std::string_view name, std::string_view label = {},
                                   OfMachine of_machine = OfMachine::kSpeed) {
  return {name, Outcome::kMeasure, Better::kHigher, 0, 0, label, {}, of_machine};
}

/// True if a metric's name matches `name`, in which each * stands for one letter or more.
bool is_called(std::string_view metric, std::string_view name);

}  // namespace difflab
