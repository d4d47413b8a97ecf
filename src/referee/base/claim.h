#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "statistics/describe.h"
#include "util/json.h"

namespace difflab::referee {

/// What a report says of a claim, read from the sentence that it prints: that is what a reader
/// sees.
struct Statement {
  std::string verdict;
  std::string claim;
  std::string heading;           ///< of the metric
  std::string variant, against;  ///< as they are labelled
  std::optional<double> ours, theirs, difference;
  std::optional<Interval> interval;
  std::optional<double> p;  ///< adjusted; the upper bound of "p < 0.001"
  std::size_t pairs = 0;

  /// Whether it says something of the world, if only that it cannot tell: neither "no verdict" nor
  /// "not measured".
  bool judges() const { return verdict != "no verdict" && verdict != "not measured"; }
  bool takes_sides() const { return verdict == "supported" || verdict == "opposite"; }
};

/// An entry of summary.json's answers; what its sentence does not tell stays empty.
Statement read_statement(const Json& answer);

}  // namespace difflab::referee
