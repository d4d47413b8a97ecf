// How much of x one line needs for the y that both reach.
#include "statistics/equal_level.h"

#include "support/catch.h"

namespace difflab {
namespace {

Levels law(double share, double power = -.3) {
  Levels levels;
  for (const double x : {10., 30., 90., 400.}) levels[x] = 5 * std::pow(x / share, power);
  return levels;
}

CATCH_TEST_CASE("between levels of a power law the share is exact, whichever line is better") {
  for (const double share : {0.3, 0.62, 1.0, 1.7}) {
    CATCH_CHECK(*share_at_equal_level(law(share), law(1), true) == Approx(share));
    CATCH_CHECK(*share_at_equal_level(law(1), law(share), true) == Approx(1 / share));
    // An accuracy grows.
    CATCH_CHECK(*share_at_equal_level(law(share, .3), law(1, .3), false) == Approx(share));
  }
}

CATCH_TEST_CASE("a level is the first that is reached, also of lines that rise again") {
  const Levels one{{1, 4}, {2, 2}, {4, 3}}, base{{1, 4}, {4, 2}};
  CATCH_CHECK(*share_at_equal_level(one, base, true) == Approx(0.5));
}

CATCH_TEST_CASE("numbers below zero are interpolated as they are") {
  const Levels one{{1, 1}, {4, -1}}, base{{1, 1}, {16, -1}};
  CATCH_CHECK(*share_at_equal_level(one, base, true) == Approx(0.25));
}

CATCH_TEST_CASE("nothing is extrapolated") {
  CATCH_CHECK_FALSE(share_at_equal_level({{1, 1}, {2, .9}}, {{1, 2}, {2, 1.5}}, true));
  CATCH_CHECK_FALSE(share_at_equal_level({{1, 1}}, law(1), true));
  CATCH_CHECK_FALSE(share_at_equal_level(law(1), {}, true));
  CATCH_CHECK_FALSE(share_at_equal_level({{0, 3}, {2, 1}}, law(1), true));
}

}  // namespace
}  // namespace difflab
