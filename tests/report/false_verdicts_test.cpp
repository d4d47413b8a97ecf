// How often simulated experiments say something false, and whether they say what is true.
#include <initializer_list>

#include "support/catch.h"
#include "support/dose.h"
#include "support/simulated_claims.h"

namespace difflab::report {
namespace {

using testing::SimulatedExperiment, testing::SimulatedOutcome;

constexpr std::size_t kSeedsOfEach = 16;
constexpr int kSimulated = 1000;

// Experiments of three claims of which any has a verdict of this kind.
int experiments_with(const SimulatedOutcome& outcome, std::size_t shifted, bool equivalence) {
  int found = 0;
  for (int i = 0; i < kSimulated; ++i) {
    const SimulatedExperiment experiment(outcome, 3, shifted, kSeedsOfEach,
                                         {stream_key(outcome.name), static_cast<std::uint64_t>(i)});
    const auto verdicts = experiment.verdicts();
    found += std::any_of(verdicts.begin(), verdicts.end(), [&](Verdict verdict) {
      return testing::says_something(verdict) && (verdict == Verdict::kEquivalent) == equivalence;
    });
  }
  return found;
}

CATCH_TEST_CASE("claims without an effect are answered falsely at most in 5 % of experiments") {
  const double allowed = 50 + 3 * std::sqrt(kSimulated * 0.05 * 0.95);  // three standard errors
  int in_all = 0;
  for (const auto& outcome : testing::outcomes_without_effect()) {
    const int wrong = experiments_with(outcome, 0, /*equivalence=*/false);
    CATCH_INFO(outcome.name << ": " << wrong << " of " << kSimulated);
    CATCH_CHECK(wrong <= allowed);
    in_all += wrong;
  }
  CATCH_CHECK(in_all > 80);  // there is something to be wrong about
  const int wrong = experiments_with(testing::just_not_equivalent(), 3, /*equivalence=*/true);
  CATCH_CHECK(wrong <= allowed);
  CATCH_CHECK(wrong > 10);
  CATCH_CHECK(experiments_with(testing::times_out_of_sight(), 3, /*equivalence=*/true) == 0);
}

// Experiments of three claims of which any has one of these verdicts.
int experiments_answered(const SimulatedOutcome& outcome, std::size_t shifted, int simulated,
                         std::initializer_list<Verdict> wrong) {
  constexpr std::size_t kSeeds = 12;  // the fewest whose pairs may be flipped
  int found = 0;
  for (int i = 0; i < simulated; ++i) {
    const SimulatedExperiment experiment(outcome, 3, shifted, kSeeds,
                                         {stream_key(outcome.name), static_cast<std::uint64_t>(i)});
    const auto verdicts = experiment.verdicts();
    found += std::any_of(verdicts.begin(), verdicts.end(), [&](Verdict verdict) {
      return std::count(wrong.begin(), wrong.end(), verdict) > 0;
    });
  }
  CATCH_UNSCOPED_INFO(outcome.name << ": " << found << " of " << simulated);
  return found;
}

CATCH_TEST_CASE("claims about ratios of times are answered falsely at most in 5 % of experiments") {
  const int simulated = testing::dose(200, 2'000);
  const double allowed = simulated * 0.05 + 3 * std::sqrt(simulated * 0.05 * 0.95);
  int in_all = 0;
  for (const auto& outcome : testing::ratios_without_effect()) {
    const int wrong = experiments_answered(
        outcome, 0, simulated, {Verdict::kSupported, Verdict::kOpposite, Verdict::kEquivalent});
    CATCH_CHECK(wrong <= allowed);
    in_all += wrong;
  }
  CATCH_CHECK(in_all > simulated / 10);
  for (const double alike : {0.0, 0.2}) {
    const auto at_margin = testing::longer_by(1.1, alike), equal = testing::longer_by(1, alike);
    CATCH_CHECK(experiments_answered(at_margin, 3, simulated, {Verdict::kSupported}) <= allowed);
    CATCH_CHECK(experiments_answered(at_margin, 3, simulated, {Verdict::kOpposite}) <= allowed);
    CATCH_CHECK(experiments_answered(equal, 0, simulated, {Verdict::kSupported}) > 0);
  }
}

CATCH_TEST_CASE("an effect of two standard deviations is found in nearly every experiment") {
  const SimulatedOutcome large{"loss, far apart", "test_loss", [](Random& r, bool shifted) {
                                 return (shifted ? 0.2 : 0) + 0.1 * r.normal();
                               }};
  CATCH_CHECK(experiments_with(large, 1, /*equivalence=*/false) > 0.9 * kSimulated);
}

}  // namespace
}  // namespace difflab::report
