#pragma once

#include <optional>
#include <span>
#include <vector>

#include "statistics/describe.h"

namespace difflab {

/// The exact test of how far one group of values lies above another, and the interval that belongs
/// to it: of all ways to deal the values to the two groups (or, paired, of all signs of the
/// differences) the share in which the groups lie at least as far apart. A shift has that p once it
/// is taken off the first group (Fisher 1935; Pitman 1937). The interval holds the shifts whose p
/// is above alpha, so the two never disagree.
///
/// All ways are counted for up to 20 values a group, and 40 differences. Beyond that 2^20 are
/// drawn, always the same ones, and p = (hits + 1) / (draws + 1).
class ShiftTest {
 public:
  /// Two groups, of any size each. @throws std::invalid_argument if one is empty.
  static ShiftTest unpaired(std::span<const double> ours, std::span<const double> theirs);
  /// Differences of pairs, each as likely + as − but for the shift.
  static ShiftTest paired(std::span<const double> differences);

  /// The one-sided p that ours lie at most (at least) `shift` above theirs: small if they lie above
  /// (below) that.
  double p_above(double shift) const { return p_of(shift, 1); }
  double p_below(double shift) const { return p_of(shift, -1); }
  /// Two-sided: twice the smaller of the two, at most 1.
  double p(double shift = 0) const;

  /// The p of two one-sided tests (Schuirmann 1987): small if they lie less than `margin` apart.
  /// @throws std::invalid_argument if the margin is not positive.
  double equivalence_p(double margin) const;

  /// Empty where there are so few values that nothing has a p that low.
  std::optional<Interval> interval(double alpha = 0.05) const;

 private:
  using Lists = std::vector<std::vector<double>>;  ///< sums of 0, 1, … values, each ascending

  ShiftTest() = default;
  void draw(std::span<const double> ours, std::span<const double> theirs);
  double p_of(double shift, int side) const;  ///< 1: above, −1: below
  double end(double from, double until, int side, double alpha) const;

  std::vector<double> differences_;  ///< paired alone
  Lists ours_, theirs_;              ///< of up to 20 values each
  std::vector<double> drawn_;        ///< of more: the shift from which on a drawn way counts
  double center_ = 0, least_ = 0, most_ = 0, rounding_ = 0, ways_ = 0, unmoved_ = 1;
};

/// The p that the two values of a pair are no more alike than those of different pairs: the F test
/// of the intraclass correlation (Fisher 1925). It does not look at which of the two is whose.
/// 1 for fewer than two pairs. @param correlation if wanted, is set to the estimate
double pairing_p(std::span<const double> ours, std::span<const double> theirs,
                 double* correlation = nullptr);

}  // namespace difflab
