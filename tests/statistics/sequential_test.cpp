// Levels of looks at growing data, against published bounds and by simulation.
#include "statistics/sequential.h"

#include <stdexcept>

#include "statistics/distributions.h"
#include "support/catch.h"
#include "util/random.h"

namespace difflab {
namespace {

std::vector<double> even_shares(int looks) {
  std::vector<double> shares;
  for (int k = 1; k <= looks; ++k) shares.push_back(static_cast<double>(k) / looks);
  return shares;
}

double z_of_level(double level) { return -normal_quantile(level / 2); }

CATCH_TEST_CASE("bounds of even looks are the published ones") {
  // Two-sided alpha .05, the O'Brien–Fleming-like spending function: Reboussin, DeMets, Kim & Lan,
  // "Computations for group sequential boundaries using the Lan–DeMets spending function method"
  // (2000), as tabulated for 2 to 5 looks.
  const std::vector<std::vector<double>> published{{2.963, 1.969},
                                                   {3.710, 2.511, 1.993},
                                                   {4.333, 2.963, 2.359, 2.014},
                                                   {4.877, 3.357, 2.680, 2.290, 2.031}};
  for (const auto& bounds : published) {
    const auto levels = levels_of_looks(even_shares(static_cast<int>(bounds.size())), 0.05);
    CATCH_REQUIRE(levels.size() == bounds.size());
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      CATCH_INFO(bounds.size() << " looks, look " << k + 1);
      CATCH_CHECK(std::abs(z_of_level(levels[k]) - bounds[k]) < 0.0006);
    }
  }
}

CATCH_TEST_CASE("one look at everything is the test itself") {
  const std::vector<double> all{1.0};
  for (const double alpha : {0.001, 0.05, 0.3}) {
    CATCH_CHECK(levels_of_looks(all, alpha).front() == Approx(alpha).epsilon(1e-6));
  }
}

CATCH_TEST_CASE("without an effect all looks together are false with probability alpha") {
  const std::vector<double> shares{0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1};  // 8, 12 … 32 seeds
  for (const double alpha : {0.05, 0.2}) {
    const auto levels = levels_of_looks(shares, alpha);
    constexpr int kTrials = 40'000;
    int crossed = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Random random{std::uint64_t{11}, static_cast<std::uint64_t>(trial)};
      double place = 0, time = 0;
      for (std::size_t k = 0; k < shares.size(); ++k) {
        place += std::sqrt(shares[k] - time) * random.normal();
        time = shares[k];
        if (2 * normal_cdf(-std::abs(place) / std::sqrt(time)) <= levels[k]) {
          ++crossed;
          break;
        }
      }
    }
    const double share = crossed / static_cast<double>(kTrials);
    CATCH_CHECK(std::abs(share - alpha) < 4 * std::sqrt(alpha * (1 - alpha) / kTrials));
  }
}

CATCH_TEST_CASE("what is spent grows to alpha, and a look too early spends nothing") {
  CATCH_CHECK(spent_alpha(0.025, 1) == Approx(0.025));
  CATCH_CHECK(spent_alpha(0.025, 0.5) < 0.002);
  const std::vector<double> early{1e-4, 1};
  const auto levels = levels_of_looks(early, 0.05);
  CATCH_CHECK(levels[0] < 1e-15);
  CATCH_CHECK(levels[1] == Approx(0.05).epsilon(1e-4));
}

CATCH_TEST_CASE("looks that do not ascend are refused") {
  for (const std::vector<double>& shares :
       {std::vector<double>{0.5, 0.5}, {0.0, 1.0}, {0.6, 1.2}, {0.7, 0.3}}) {
    CATCH_CHECK_THROWS_AS(levels_of_looks(shares, 0.05), std::invalid_argument);
  }
  const std::vector<double> all{1.0};
  CATCH_CHECK_THROWS_AS(levels_of_looks(all, 0.0), std::invalid_argument);
  CATCH_CHECK_THROWS_AS(levels_of_looks(all, 1.0), std::invalid_argument);
}

// Questions about walks with these drifts over the whole information: which were answered.
std::vector<bool> ask_walks(const std::vector<double>& drifts, const std::vector<double>& shares,
                            SequentialQuestions questions, Random random) {
  std::vector<double> places(drifts.size(), 0.0);
  std::vector<TwoWayP> p(drifts.size());
  double time = 0;
  for (std::size_t k = 0; k < shares.size() && questions.open() > 0; ++k) {
    for (std::size_t i = 0; i < drifts.size(); ++i) {
      const double step = shares[k] - time;
      places[i] += drifts[i] * step + std::sqrt(step) * random.normal();
      p[i].difference = 2 * normal_cdf(-std::abs(places[i]) / std::sqrt(shares[k]));
    }
    time = shares[k];
    questions.look(p);
  }
  std::vector<bool> answered;
  for (std::size_t i = 0; i < drifts.size(); ++i) answered.push_back(questions.is_answered(i));
  return answered;
}

CATCH_TEST_CASE("several questions at several looks are false with probability alpha in all") {
  const std::vector<double> shares{0.25, 0.5, 0.75, 1};
  constexpr int kTrials = 20'000;
  // None has an effect; one has a large one, whose part of alpha the others get.
  for (const std::vector<double>& drifts :
       {std::vector<double>{0, 0, 0}, std::vector<double>{0, 6, 0}}) {
    const SequentialQuestions fresh(3, shares, 0.05);
    int wrong = 0, found = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto answered =
          ask_walks(drifts, shares, fresh, {std::uint64_t{3}, static_cast<std::uint64_t>(trial)});
      wrong += (answered[0] || answered[2] || (answered[1] && drifts[1] == 0)) ? 1 : 0;
      found += answered[1] ? 1 : 0;
    }
    const double share = wrong / static_cast<double>(kTrials);
    CATCH_CHECK(share < 0.05 + 4 * std::sqrt(0.05 * 0.95 / kTrials));
    CATCH_CHECK(share > 0.04);  // no more is given away than Bonferroni must
    if (drifts[1] > 0) CATCH_CHECK(found > 0.999 * kTrials);
  }
}

CATCH_TEST_CASE("an answer leaves its alpha to the questions that are open") {
  const std::vector<double> shares{0.5, 1};
  const double of_two = levels_of_looks(shares, 0.025)[1], alone = levels_of_looks(shares, 0.05)[1];
  const double between = (of_two + alone) / 2;
  SequentialQuestions questions(2, shares, 0.05);
  questions.look(std::vector<TwoWayP>{{0.5, {}}, {0.5, {}}});
  CATCH_CHECK(questions.open() == 2);
  auto other = questions;
  questions.look(std::vector<TwoWayP>{{between, {}}, {0.5, {}}});
  CATCH_CHECK(questions.open() == 2);
  CATCH_CHECK(questions.level(0) == of_two);
  other.look(std::vector<TwoWayP>{{between, {}}, {1e-6, {}}});
  CATCH_CHECK(other.open() == 0);
  CATCH_CHECK(other.level(0) == alone);
  CATCH_CHECK(other.level(1) == of_two);
  CATCH_CHECK_THROWS_AS(other.look(std::vector<TwoWayP>{{0, {}}, {0, {}}}), std::logic_error);
  SequentialQuestions three(3, shares, 0.05);
  CATCH_CHECK_THROWS_AS(three.look(std::vector<TwoWayP>{{0.1, {}}}), std::invalid_argument);
}

CATCH_TEST_CASE("a question answered by one of its two tests keeps its part of alpha") {
  const std::vector<double> shares{0.5, 1};
  const double of_two = levels_of_looks(shares, 0.025)[1], alone = levels_of_looks(shares, 0.05)[1];
  const double between = (of_two + alone) / 2;
  SequentialQuestions fresh(2, shares, 0.05);
  fresh.look(std::vector<TwoWayP>{{1, 1}, {1, {}}});
  auto by_difference = fresh, by_equivalence = fresh, by_both = fresh;
  by_difference.look(std::vector<TwoWayP>{{1e-9, 0.9}, {between, {}}});
  CATCH_CHECK(by_difference.is_answered(0));
  CATCH_CHECK_FALSE(by_difference.is_answered(1));
  by_equivalence.look(std::vector<TwoWayP>{{0.9, 1e-9}, {between, {}}});
  CATCH_CHECK(by_equivalence.is_answered(0));
  CATCH_CHECK_FALSE(by_equivalence.is_answered(1));
  by_both.look(std::vector<TwoWayP>{{1e-9, 1e-9}, {between, {}}});
  CATCH_CHECK(by_both.open() == 0);
}

}  // namespace
}  // namespace difflab
