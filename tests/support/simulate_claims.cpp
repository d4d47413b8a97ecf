// The full dose of tests/report/sequence_test.cpp: how often simulated experiments give a false
// verdict and how often they find what is there, with a fixed number of seeds and with as many as
// the claims need. Prints the tables of docs/report.md.
//   simulate_claims [EXPERIMENTS]     10,000 unless said otherwise; a few minutes
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/simulated_claims.h"

namespace {

using namespace difflab;
using report::ClaimSequence;
using report::Verdict;
using testing::SimulatedExperiment;
using testing::SimulatedOutcome;

constexpr std::size_t kClaims = 3;
const std::vector<std::size_t> kLooks{8, 12, 16, 20, 24, 28, 32};

bool is_difference(Verdict verdict) {
  return verdict == Verdict::kSupported || verdict == Verdict::kOpposite;
}

void count_false_verdicts(const SimulatedOutcome& outcome, std::size_t shifted, int experiments,
                          bool (*is_false)(Verdict)) {
  const ClaimSequence fresh(kClaims, kLooks);
  int fixed_few = 0, fixed_many = 0, sequential = 0;
  for (int i = 0; i < experiments; ++i) {
    const SimulatedExperiment experiment(
        outcome, kClaims, shifted, kLooks.back(),
        {stream_key("full " + outcome.name), static_cast<std::uint64_t>(i)});
    const auto any = [&](const std::vector<Verdict>& verdicts) {
      return std::any_of(verdicts.begin(), verdicts.end(), is_false) ? 1 : 0;
    };
    std::vector<Verdict> found;
    for (const auto& claim : experiment.follow(fresh, kLooks)) {
      found.push_back(claim.verdict);
    }
    fixed_few += any(experiment.judge_once(kLooks.front()));
    fixed_many += any(experiment.judge_once(kLooks.back()));
    sequential += any(found);
  }
  const auto share = [&](int count) { return 100.0 * count / experiments; };
  fmt::print("| {} | {:.1f} % | {:.1f} % | {:.1f} % |\n", outcome.name, share(fixed_few),
             share(fixed_many), share(sequential));
}

// The first of three claims has an effect.
void count_found(const SimulatedOutcome& outcome, int experiments) {
  const ClaimSequence fresh(kClaims, kLooks);
  int fixed = 0, sequential = 0, wrong = 0;
  double seeds = 0;
  for (int i = 0; i < experiments; ++i) {
    const SimulatedExperiment experiment(
        outcome, kClaims, 1, kLooks.back(),
        {stream_key("power " + outcome.name), static_cast<std::uint64_t>(i)});
    fixed += experiment.judge_once(kLooks.back()).front() == Verdict::kSupported ? 1 : 0;
    const auto claims = experiment.follow(fresh, kLooks);
    sequential += claims.front().verdict == Verdict::kSupported ? 1 : 0;
    seeds += static_cast<double>(kLooks[claims.front().look - 1]);
    wrong += is_difference(claims[1].verdict) || is_difference(claims[2].verdict) ? 1 : 0;
  }
  const auto share = [&](int count) { return static_cast<double>(count) / experiments; };
  fmt::print("| {} | {:.3f} | {:.3f} | {:.1f} | {:.1f} % |\n", outcome.name, share(fixed),
             share(sequential), seeds / experiments, 100 * share(wrong));
}

}  // namespace

int main(int argc, char** argv) {
  const int experiments = argc > 1 ? std::atoi(argv[1]) : 10'000;
  fmt::print("| outcome | 8 seeds | 32 seeds | 8 to 32 seeds |\n| :-- | --: | --: | --: |\n");
  for (const auto& outcome : testing::outcomes_without_effect()) {
    count_false_verdicts(outcome, 0, experiments, is_difference);
  }
  for (const auto& outcome : {testing::just_not_equivalent(), testing::times_out_of_sight()}) {
    count_false_verdicts(outcome, kClaims, experiments,
                         [](Verdict verdict) { return verdict == Verdict::kEquivalent; });
  }
  fmt::print(
      "\n| effect | 32 seeds | 8 to 32 seeds | seeds on average | false |\n"
      "| :-- | --: | --: | --: | --: |\n");
  for (const double effect : {0.5, 0.75, 1.0, 1.5, 2.0}) {
    count_found({fmt::format("loss lower by {} of the differences' standard deviation", effect),
                 "test_loss",
                 [=](Random& r, bool shifted) {
                   return (shifted ? -effect * std::sqrt(2.0) : 0) + r.normal();
                 }},
                experiments);
  }
  for (const double learn : {0.4, 0.6, 0.8}) {
    count_found({fmt::format("{:.0f} % of runs learn, of the baseline all", 100 * learn), "learned",
                 [=](Random& r, bool shifted) {
                   return r.uniform() < (shifted ? learn : 1.0) ? 1.0 : 0.0;
                 }},
                experiments);
  }
}
