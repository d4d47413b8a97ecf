#include "statistics/paired.h"

#include "statistics/describe.h"
#include "statistics/distributions.h"
#include "statistics/share.h"
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

// So many differences of 1, the first ones negative.
std::vector<double> ones(std::size_t pairs, std::size_t negative) {
  std::vector<double> differences(pairs, 1.0);
  for (std::size_t i = 0; i < negative; ++i) differences[i] = -1;
  return differences;
}

CATCH_TEST_CASE("the sign-flip p of up to 40 pairs is counted, and equals the binomial of ones") {
  // P(at least 20 of 30 on one side), twice: Σ C(30, k) over k = 20 … 30 is 53,009,102.
  CATCH_CHECK(sign_flip_p(ones(30, 10)) == 2 * 53'009'102. / (1 << 30));
  CATCH_CHECK(sign_flip_p(ones(40, 0)) == smallest_sign_flip_p(40));
  CATCH_CHECK(sign_flip_p(ones(32, 16)) == 1);
  // The order of the differences does not matter, though the halves do.
  std::vector<double> differences;
  for (int i = 0; i < 23; ++i) differences.push_back(std::sin(i * i) + 0.3);
  const double p = sign_flip_p(differences);
  std::reverse(differences.begin(), differences.end());
  CATCH_CHECK(sign_flip_p(differences) == p);
}

CATCH_TEST_CASE("beyond 40 pairs the sign-flip p is drawn, repeatable and near the counted one") {
  const auto differences = ones(42, 14);
  // 28 of 42 positive: binomial two-sided P(|sum| >= 14) = 0.0436.
  const double p = sign_flip_p(differences);
  CATCH_CHECK(p == Approx(0.0436).margin(0.001));
  CATCH_CHECK(p == sign_flip_p(differences));
  // P(|sum| >= 74) of 1,500, and of 45, which no eight divides: binomial two-sided.
  CATCH_CHECK(sign_flip_p(ones(1'500, 713)) == Approx(0.0594).margin(0.001));
  CATCH_CHECK(sign_flip_p(ones(45, 17)) == Approx(0.1352).margin(0.001));
}

CATCH_TEST_CASE("the bootstrap interval of few values counts every sample there is") {
  // Of 27 samples of {1, 2, 3} one is all 1: more than 2.5 %, so both ends are reached.
  const auto three = bca_interval(std::vector<double>{1, 2, 3});
  CATCH_REQUIRE(three);
  CATCH_CHECK(three->low == 1);
  CATCH_CHECK(three->high == 3);
  // Of 3,125 samples of these 56 sum to −7 or less, 126 to −6 or less; 78.1 are 2.5 %.
  const auto five = bca_interval(std::vector<double>{-2, -1, 0, 1, 2});
  CATCH_CHECK(five->low == Approx(-6 / 5.0));
  CATCH_CHECK(five->high == Approx(6 / 5.0));
  CATCH_CHECK_FALSE(bca_interval(std::vector<double>{1}));
  const auto equal = bca_interval(std::vector<double>{3, 3, 3});
  CATCH_CHECK(equal->low == 3);
  CATCH_CHECK(equal->high == 3);
}

CATCH_TEST_CASE("the bootstrap interval leans to the side to which the values are skewed") {
  const std::vector<double> right{0.1, 0.2, 0.3, 0.5, 0.9, 4.0};
  const double center = 1;
  const auto leaning = *bca_interval(right);
  CATCH_CHECK(leaning.high - center > 2 * (center - leaning.low));
  // Mirrored values have the mirrored interval, but for the rank that is rounded down.
  std::vector<double> left;
  for (const double value : right) left.push_back(-value);
  const auto mirrored = *bca_interval(left);
  CATCH_CHECK(mirrored.low == Approx(-leaning.high).margin(0.05));
  CATCH_CHECK(mirrored.high == Approx(-leaning.low).margin(0.05));
}

CATCH_TEST_CASE("the bootstrap interval of many values is drawn, the same each time") {
  // scipy.stats.bootstrap (1.17), method BCa, 1,000,000 samples: 0.062 to 0.202.
  const std::vector<double> ten = {0.12, -0.05, 0.31, 0.22, 0.08, 0.17, -0.02, 0.27, 0.19, 0.05};
  const auto interval = bca_interval(ten);
  CATCH_CHECK(interval->low == Approx(0.062).margin(0.003));
  CATCH_CHECK(interval->high == Approx(0.202).margin(0.003));
  CATCH_CHECK(bca_interval(ten)->low == interval->low);
}

CATCH_TEST_CASE("equal differences are equivalent as far as their number says") {
  CATCH_CHECK(equivalence_p(std::vector<double>(8, 0.0), 1) == std::exp2(-8));
  CATCH_CHECK(equivalence_p(std::vector<double>(8, -0.5), 1) == std::exp2(-8));
  CATCH_CHECK(equivalence_p(std::vector<double>(8, 1.0), 1) == 1);
}

CATCH_TEST_CASE("what differs in few of many pairs differs seldom: the binomial distribution") {
  CATCH_CHECK(equivalence_p(0, 16, 0.05) == Approx(std::pow(0.95, 16)));
  CATCH_CHECK(equivalence_p(1, 16, 0.25) ==
              Approx(std::pow(0.75, 16) + 16 * 0.25 * std::pow(0.75, 15)));
  CATCH_CHECK(equivalence_p(16, 16, 0.25) == Approx(1));
  CATCH_CHECK_THROWS_AS(equivalence_p(0, 16, 0), std::invalid_argument);
}

}  // namespace
}  // namespace difflab
