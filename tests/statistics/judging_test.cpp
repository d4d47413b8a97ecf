// What only rests on these estimators together; each alone is held to SciPy by against_scipy.py.
#include "statistics/distributions.h"
#include "statistics/holm.h"
#include "statistics/paired.h"
#include "statistics/share.h"
#include "statistics/shift_test.h"
#include "support/catch.h"
#include "util/random.h"

namespace difflab {
namespace {

double normal(Random& random) {
  return normal_quantile((static_cast<double>(random.below(1 << 30)) + 0.5) / (1 << 30));
}

CATCH_TEST_CASE("questions with a margin count once, as at most one answer is false") {
  // The difference of the first is found at .01 · 2, which leaves its equivalence in the family.
  const auto adjusted = holm_of_questions(std::vector<TwoWayP>{{0.01, 0.9}, {0.03, {}}});
  CATCH_CHECK(adjusted[0].difference == 0.02);
  CATCH_CHECK(adjusted[1].difference == 0.06);
  CATCH_CHECK(*adjusted[0].equivalence == 0.9);
  CATCH_CHECK(!adjusted[1].equivalence);
  // Without margins it is Holm's.
  const auto plain = holm_of_questions(std::vector<TwoWayP>{{0.01, {}}, {0.03, {}}});
  CATCH_CHECK(plain[1].difference == 0.03);
}

CATCH_TEST_CASE("any false answer to questions with margins is at most as likely as alpha") {
  constexpr int kExperiments = 4'000;
  constexpr double kMargin = 1.2;
  int wrong = 0;
  for (int experiment = 0; experiment < kExperiments; ++experiment) {
    Random random{stream_key("questions"), static_cast<std::uint64_t>(experiment)};
    std::vector<TwoWayP> p;
    for (int question = 0; question < 4; ++question) {
      const double truth = question < 2 ? 0 : kMargin;  // nothing, or just too much
      std::vector<double> differences(8);
      for (auto& difference : differences) difference = truth + normal(random);
      p.push_back({sign_flip_p(differences), equivalence_p(differences, kMargin)});
    }
    const auto adjusted = holm_of_questions(p);
    const bool any = adjusted[0].difference <= 0.05 || adjusted[1].difference <= 0.05 ||
                     *adjusted[2].equivalence <= 0.05 || *adjusted[3].equivalence <= 0.05;
    wrong += any ? 1 : 0;
  }
  // Three standard errors above 5 % of 4,000.
  CATCH_CHECK(wrong < 242);
  CATCH_CHECK(wrong > 40);  // a procedure that never answers would pass, too
}

CATCH_TEST_CASE("the interval of a mean of shares covers it as often as t does, and stays inside") {
  constexpr int kSamples = 4'000;
  // Accuracies of 10 runs: most near .97, some that stopped earlier.
  int covered = 0, by_t = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    Random random{stream_key("shares"), static_cast<std::uint64_t>(sample)};
    std::vector<double> shares(10);
    for (auto& share : shares) share = 1 / (1 + std::exp(-3 - normal(random)));
    const auto interval = *mean_share_interval(shares);
    CATCH_REQUIRE(interval.low >= 0);
    CATCH_REQUIRE(interval.high <= 1);
    constexpr double kMean = 0.9307;  // ∫ of the logistic-normal (3, 1), by quadrature
    covered += interval.low <= kMean && kMean <= interval.high ? 1 : 0;
    const auto t = *t_interval(shares);
    by_t += t.low <= kMean && kMean <= t.high ? 1 : 0;
  }
  CATCH_CHECK(covered >= by_t);
  CATCH_CHECK(covered > 0.88 * kSamples);  // the mean of a skewed population, n = 10
}

CATCH_TEST_CASE("intervals of shares stay in their range, and of equal values are the value") {
  const std::vector<double> few{1, 1, 0.2}, ones{1, 1, 1}, far{0.9, 0.95, -0.9};
  CATCH_CHECK(mean_share_interval(few)->high <= 1);
  CATCH_CHECK(mean_share_interval(few)->low > 0);
  CATCH_CHECK(mean_share_interval(ones)->low == 1);
  CATCH_CHECK(share_difference_interval(far)->low > -1);
  CATCH_CHECK(share_difference_interval(far)->high < 1);
  CATCH_CHECK(share_difference_interval(std::vector<double>{1, 1})->low == 1);
  CATCH_CHECK(!mean_share_interval(std::vector<double>{0.5}));
}

CATCH_TEST_CASE("a difference of shares has Student's interval on the scale of artanh") {
  // By hand: mean 0.26, standard deviation 0.23022, t of 4 degrees of freedom 2.77645.
  const auto interval = *share_difference_interval(std::vector<double>{0.5, 0.2, 0.4, -0.1, 0.3});
  CATCH_CHECK(interval.low == Approx(-0.0404466).epsilon(1e-5));
  CATCH_CHECK(interval.high == Approx(0.5173288).epsilon(1e-6));
}

CATCH_TEST_CASE(
    "an interval of shifts excludes zero exactly where the test of no shift is below alpha") {
  int excluded = 0;
  for (int sample = 0; sample < 2'000; ++sample) {
    Random random{stream_key("shifts"), static_cast<std::uint64_t>(sample)};
    std::vector<double> ours(8), theirs(8), differences(8);
    for (std::size_t i = 0; i < ours.size(); ++i) {  // rounded, so that many tie
      ours[i] = std::round(3 * normal(random)) / 3 + 0.7;
      theirs[i] = std::round(3 * normal(random)) / 3;
      differences[i] = ours[i] - theirs[i];
    }
    for (const auto& test : {ShiftTest::unpaired(ours, theirs), ShiftTest::paired(differences)}) {
      const auto interval = *test.interval();
      const bool excludes = interval.low > 0 || interval.high < 0;
      CATCH_REQUIRE(excludes == (test.p() <= 0.05));
      excluded += excludes ? 1 : 0;
    }
  }
  CATCH_CHECK(excluded > 400);
  CATCH_CHECK(excluded < 3'600);
}

CATCH_TEST_CASE("more values than can be dealt in every way have nearly the p of Student's test") {
  Random random{stream_key("many")};
  std::vector<double> ours(30), theirs(30);
  for (auto& value : ours) value = normal(random) + 0.6;
  for (auto& value : theirs) value = normal(random);
  const auto test = ShiftTest::unpaired(ours, theirs);
  const double error =
      std::sqrt((std::pow(*sample_sd(ours), 2) + std::pow(*sample_sd(theirs), 2)) / 30);
  const double apart = mean(ours) - mean(theirs);
  CATCH_CHECK(test.p() == Approx(2 * student_t_cdf(-apart / error, 58)).epsilon(0.1));
  const double half = student_t_quantile(0.975, 58) * error;
  CATCH_CHECK(test.interval()->low == Approx(apart - half).margin(0.02));
  CATCH_CHECK(test.interval()->high == Approx(apart + half).margin(0.02));
}

CATCH_TEST_CASE("McNemar's exact test counts both kinds of discordant pairs") {
  CATCH_CHECK(mcnemar_p(2, 8) == Approx(112.0 / 1024));  // 2 (1 + 10 + 45) / 2^10
  CATCH_CHECK(mcnemar_p(8, 2) == Approx(112.0 / 1024));
  CATCH_CHECK(mcnemar_p(5, 5) == 1);
  CATCH_CHECK(mcnemar_p(0, 0) == 1);
}

CATCH_TEST_CASE("the pairs that are needed have the power that is asked for") {
  // Effect 1 sd, two-sided 5 %: 10 pairs have .80 (noncentral t tables), 8 have .68.
  const std::vector<double> differences{0, 2, 1 - std::sqrt(2.0) / 2, 1 + std::sqrt(2.0) / 2};
  CATCH_REQUIRE(*sample_sd(differences) == Approx(1));
  CATCH_CHECK(*pairs_needed(differences, 0.05) == Approx(10).margin(1));
  CATCH_CHECK(!pairs_needed(std::vector<double>{-1, 1}, 0.05));
  // Six pairs at least, however large the effect: 2 / 2^n.
  CATCH_CHECK(*pairs_needed(std::vector<double>{5, 5.001}, 0.05) == 6);
}

}  // namespace
}  // namespace difflab
