#include "util/statistics.h"

#include <cmath>
#include <vector>

#include "support/catch.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("mean, sample standard deviation and median agree with a hand count") {
  // mean (2+4+4+4+5+5+7+9)/8 = 5; squares 9+1+1+1+0+0+4+16 = 32; 32/7.
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  CATCH_CHECK(mean(values) == 5);
  CATCH_CHECK(*sample_sd(values) == Approx(std::sqrt(32.0 / 7)));
  CATCH_CHECK(median(values) == 4.5);
  CATCH_CHECK(median(std::vector<double>{9, 1, 2}) == 2);
}

CATCH_TEST_CASE("Student-t quantiles agree with printed tables to the last digit printed") {
  // Two-sided 95 % and 99 % points (e.g. NIST/SEMATECH e-Handbook, table 1.3.6.7.2).
  struct Row {
    double degrees, at_975, at_995;
  };
  const std::vector<Row> table = {{1, 12.706, 63.657}, {2, 4.303, 9.925},  {3, 3.182, 5.841},
                                  {4, 2.776, 4.604},   {5, 2.571, 4.032},  {9, 2.262, 3.250},
                                  {19, 2.093, 2.861},  {29, 2.045, 2.756}, {100, 1.984, 2.626}};
  for (const Row& row : table) {
    CATCH_INFO("degrees of freedom " << row.degrees);
    CATCH_CHECK(std::abs(student_t_quantile(0.975, row.degrees) - row.at_975) <= 0.0005);
    CATCH_CHECK(std::abs(student_t_quantile(0.995, row.degrees) - row.at_995) <= 0.0005);
    CATCH_CHECK(student_t_quantile(0.025, row.degrees) ==
                Approx(-student_t_quantile(0.975, row.degrees)));
  }
}

CATCH_TEST_CASE("one and two degrees of freedom have closed forms") {
  // One: Cauchy, tan(pi (p - 1/2)). Two: (2p - 1) sqrt(2 / (4 p (1 - p))).
  for (const double p : {0.001, 0.2, 0.5, 0.6, 0.9, 0.999, 0.999999}) {
    CATCH_CHECK(student_t_quantile(p, 1) ==
                Approx(std::tan(std::acos(-1.0) * (p - 0.5))).epsilon(1e-9).margin(1e-12));
    CATCH_CHECK(student_t_quantile(p, 2) ==
                Approx((2 * p - 1) * std::sqrt(2 / (4 * p * (1 - p)))).epsilon(1e-9).margin(1e-12));
  }
}

CATCH_TEST_CASE("the Student-t distribution tends to the normal one") {
  CATCH_CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-12));
  CATCH_CHECK(normal_quantile(0.5) == Approx(0).margin(1e-12));
  CATCH_CHECK(student_t_quantile(0.975, 1e7) == Approx(normal_quantile(0.975)).epsilon(1e-6));
}

CATCH_TEST_CASE("a quantile undoes the distribution function") {
  for (const double degrees : {1.0, 2.5, 7.0, 40.0}) {
    for (const double t : {-6.0, -0.3, 0.01, 1.0, 3.0}) {
      CATCH_CHECK(student_t_quantile(student_t_cdf(t, degrees), degrees) ==
                  Approx(t).epsilon(1e-9));
    }
  }
}

CATCH_TEST_CASE("the t interval of three values agrees with a hand count") {
  // mean 2, s = 1, half width 4.30265 / sqrt(3) = 2.48414.
  const auto interval = t_interval(std::vector<double>{1, 2, 3});
  CATCH_REQUIRE(interval);
  CATCH_CHECK(interval->low == Approx(2 - 2.48414).epsilon(1e-5));
  CATCH_CHECK(interval->high == Approx(2 + 2.48414).epsilon(1e-5));
}

CATCH_TEST_CASE("one value has no interval and no standard deviation, rather than zero") {
  CATCH_CHECK_FALSE(t_interval(std::vector<double>{0.7}));
  CATCH_CHECK_FALSE(sample_sd(std::vector<double>{0.7}));
  CATCH_CHECK_FALSE(t_interval(std::vector<double>{}));
  CATCH_CHECK_THROWS(mean(std::vector<double>{}));
}

CATCH_TEST_CASE("Wilson intervals agree with the examples of Newcombe 1998, table I") {
  struct Example {
    std::int64_t successes, trials;
    double low, high;
  };
  for (const auto& [successes, trials, low, high] :
       {Example{81, 263, 0.2553, 0.3662}, Example{15, 148, 0.0624, 0.1605},
        Example{0, 20, 0.0, 0.1611}, Example{1, 29, 0.0061, 0.1718}}) {
    const auto interval = wilson_interval(successes, trials);
    CATCH_REQUIRE(interval);
    CATCH_INFO(successes << " of " << trials);
    CATCH_CHECK(std::abs(interval->low - low) <= 0.00006);
    CATCH_CHECK(std::abs(interval->high - high) <= 0.00006);
  }
  CATCH_CHECK_FALSE(wilson_interval(0, 0));
  CATCH_CHECK(wilson_interval(7, 7)->high == 1);
}

CATCH_TEST_CASE("the sign-flip p of Darwin's maize is the 1726 of 32768 that Fisher counted") {
  // Fisher 1935, The Design of Experiments, section 21: differences in eighths of an inch.
  const std::vector<double> differences = {49, -67, 8,  16, 6,  23, 28, 41,
                                           14, 29,  56, 24, 75, 60, -48};
  CATCH_CHECK(sign_flip_p(differences) == 1726.0 / 32768);
}

CATCH_TEST_CASE("sign-flip p counts patterns, ties included, and is bounded by the pairs") {
  // Sums of ±3 ±1 ±2 up to sign: 6 4 2 0; observed |3 - 1 + 2| = 4: 2 of 4.
  CATCH_CHECK(sign_flip_p(std::vector<double>{3, -1, 2}) == 0.5);
  // 0.1 + 0.2 and 0.3 tie in exact arithmetic but not in floating point.
  CATCH_CHECK(sign_flip_p(std::vector<double>{0.1, 0.2, -0.3}) == 1);
  CATCH_CHECK(sign_flip_p(std::vector<double>{0, 0}) == 1);
  for (std::int64_t pairs = 1; pairs <= 12; ++pairs) {
    const std::vector<double> all_better(static_cast<std::size_t>(pairs), 0.25);
    CATCH_CHECK(sign_flip_p(all_better) == smallest_sign_flip_p(pairs));
  }
  CATCH_CHECK(smallest_sign_flip_p(5) == 0.0625);
}

CATCH_TEST_CASE("beyond 20 pairs the sign-flip p is drawn, repeatable and near the normal one") {
  std::vector<double> differences(30, 1.0);
  for (std::size_t i = 0; i < 10; ++i) differences[i] = -1;
  // 20 of 30 positive: binomial two-sided P(|sum| >= 10) = 0.0987.
  const double p = sign_flip_p(differences);
  CATCH_CHECK(p == Approx(0.0987).margin(0.002));
  CATCH_CHECK(p == sign_flip_p(differences));
}

CATCH_TEST_CASE("a paired comparison states pairs, difference, interval and p") {
  const auto comparison = compare_paired(std::vector<double>{1, 2, 3});
  CATCH_REQUIRE(comparison);
  CATCH_CHECK(comparison->pairs == 3);
  CATCH_CHECK(comparison->difference == 2);
  CATCH_CHECK(comparison->interval->low == Approx(2 - 2.48414).epsilon(1e-5));
  CATCH_CHECK(comparison->p == 0.25);
  CATCH_CHECK_FALSE(compare_paired(std::vector<double>{}));
  CATCH_CHECK_FALSE(compare_paired(std::vector<double>{1})->interval);
}

}  // namespace
}  // namespace difflab
