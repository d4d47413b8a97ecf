// Survival estimates of the trial that every textbook computes.
#include "statistics/survival.h"

#include "support/catch.h"

namespace difflab {
namespace {

std::vector<Lifetime> lifetimes(const std::vector<double>& happened,
                                const std::vector<double>& censored) {
  std::vector<Lifetime> all;
  for (const double time : happened) all.push_back({.time = time, .happened = true});
  for (const double time : censored) all.push_back({.time = time, .happened = false});
  return all;
}

// Weeks of remission, Freireich et al. 1963, as in Kleinbaum & Klein, Survival Analysis, tables 2.1
// to 2.4.
std::vector<Lifetime> treated() {
  return lifetimes({6, 6, 6, 7, 10, 13, 16, 22, 23},
                   {6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35});
}
std::vector<Lifetime> placebo() {
  return lifetimes({1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23}, {});
}

CATCH_TEST_CASE("the Kaplan-Meier estimate is the one of the textbook, with its numbers at risk") {
  struct Row {
    double time;
    std::int64_t at_risk, events;
    double survival;
  };
  const std::vector<Row> table{{6, 21, 3, 0.8571},  {7, 17, 1, 0.8067},  {10, 15, 1, 0.7529},
                               {13, 12, 1, 0.6902}, {16, 11, 1, 0.6275}, {22, 7, 1, 0.5378},
                               {23, 6, 1, 0.4482}};
  const auto steps = kaplan_meier(treated());
  CATCH_REQUIRE(steps.size() == table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    CATCH_INFO("week " << table[i].time);
    CATCH_CHECK(steps[i].time == table[i].time);
    CATCH_CHECK(steps[i].at_risk == table[i].at_risk);
    CATCH_CHECK(steps[i].events == table[i].events);
    CATCH_CHECK(std::abs(steps[i].survival - table[i].survival) < 0.00006);
  }
  // Greenwood: .8571 · √(3 / (21 · 18)), then + 1 / (17 · 16).
  CATCH_CHECK(steps[0].error == Approx(0.857143 * std::sqrt(3.0 / 378)).epsilon(1e-5));
  CATCH_CHECK(steps[1].error == Approx(0.806723 * std::sqrt(3.0 / 378 + 1.0 / 272)).epsilon(1e-5));
}

CATCH_TEST_CASE(
    "medians are the weeks at which half are left, the interval as far as it is known") {
  CATCH_CHECK(median_lifetime(treated()) == 23.0);
  CATCH_CHECK(median_lifetime(placebo()) == 8.0);
  CATCH_CHECK_FALSE(median_lifetime(lifetimes({1}, {2, 3, 4})));
  // survival::survfit of R with conf.type "log-log": 13 to NA, 4 to 11.
  const auto of_treated = median_lifetime_interval(treated()),
             of_placebo = median_lifetime_interval(placebo());
  CATCH_REQUIRE((of_treated && of_placebo));
  CATCH_CHECK(of_treated->low == 13);
  CATCH_CHECK(std::isinf(of_treated->high));
  CATCH_CHECK(of_placebo->low == 4);
  CATCH_CHECK(of_placebo->high == 11);
}

CATCH_TEST_CASE("a restricted mean is the area below the steps") {
  // 2 of 4 at 1, one at 3, up to 5: 1 · 1 + 2 · 1/2 + 2 · 1/4.
  const auto mean = restricted_mean(lifetimes({1, 1, 3, 9}, {}), 5);
  CATCH_CHECK(mean.mean == Approx(2.5));
  // Areas behind 1 and 3: 1.5 and .5; Greenwood: 2 / (4 · 2) and 1 / (2 · 1).
  CATCH_CHECK(mean.error == Approx(std::sqrt(1.5 * 1.5 / 4 + 0.5 * 0.5 / 2)));
  CATCH_CHECK(restricted_mean(lifetimes({1, 1, 3, 9}, {}), 1).mean == Approx(1));
}

CATCH_TEST_CASE("the log-rank test of the two arms has chi squared 16.79") {
  // So the textbook; on one degree of freedom P(χ² > 16.79) = erfc(√(16.79 / 2)).
  CATCH_CHECK(log_rank_p(treated(), placebo()) ==
              Approx(std::erfc(std::sqrt(16.79 / 2))).epsilon(0.005));
  CATCH_CHECK(log_rank_p(placebo(), treated()) == Approx(log_rank_p(treated(), placebo())));
  CATCH_CHECK(log_rank_p(placebo(), placebo()) == Approx(1));
  CATCH_CHECK(log_rank_p(lifetimes({}, {3}), lifetimes({}, {4})) == 1);
}

CATCH_TEST_CASE("a median time is the middle of a while in which half are left") {
  const std::vector<Lifetime> all{{1}, {2}, {5}, {6}};
  CATCH_CHECK(median_lifetime(all) == 3.5);
  const std::vector<Lifetime> odd{{1}, {2}, {5}};
  CATCH_CHECK(median_lifetime(odd) == 2);
  // Half are left to the end.
  const std::vector<Lifetime> open{{1}, {2}, {5, false}, {6, false}};
  CATCH_CHECK_FALSE(median_lifetime(open));
}

}  // namespace
}  // namespace difflab
