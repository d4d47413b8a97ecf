#pragma once

#include <limits>
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

/// Facts known of a metric before anything is measured, declared beside the code that measures it.
struct MetricFacts {
  std::string_view name;  ///< a * stands for a number or the name of a part
  Outcome outcome = Outcome::kMeasure;
  Better better = Better::kNeither;
  double least = -std::numeric_limits<double>::infinity();  ///< no value and no mean lies below
};

/// A share of something, between 0 and 1.
constexpr MetricFacts share_metric(std::string_view name, Better better = Better::kNeither) {
  return {name, Outcome::kShare, better, 0};
}
/// Something that cannot be negative, such as a loss, a norm, a size.
constexpr MetricFacts positive_metric(std::string_view name, Better better = Better::kNeither) {
  return {name, Outcome::kMeasure, better, 0};
}

/// True if a metric's name matches `name`, in which each * stands for one letter or more.
bool is_called(std::string_view metric, std::string_view name);

}  // namespace difflab
