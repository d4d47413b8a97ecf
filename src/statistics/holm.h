#pragma once

#include <optional>
#include <span>
#include <vector>

namespace difflab {

/// p values adjusted for their number (Holm 1979): rejecting those that are at most α makes any
/// false rejection among all of them at most as likely as α. In the given order.
std::vector<double> holm(std::span<const double> p);

/// The largest p that is rejected if of all rejections at most this share is to be false on average
/// (Benjamini & Hochberg 1995); empty if none is.
std::optional<double> discovery_limit(std::span<const double> p, double rate);

/// The p of a question that can be answered in two ways which exclude each other.
struct TwoWayP {
  double difference;  ///< that there is none
  std::optional<double> equivalence =
      {};  ///< that there is one beyond the margin; empty: no margin
};

/// The same for such questions: of each at most one hypothesis is true, so that the number of
/// questions counts, not that of tests (Shaffer 1986).
std::vector<TwoWayP> holm_of_questions(std::span<const TwoWayP> p);

}  // namespace difflab
