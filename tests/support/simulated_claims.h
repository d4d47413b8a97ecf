#pragma once
// Experiments without files: runs are drawn, and their claims judged as the report judges them.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "report/table/sequence.h"
#include "statistics/holm.h"
#include "statistics/paired.h"
#include "util/random.h"

namespace difflab::testing {

/// What the runs of a simulated experiment are like.
struct SimulatedOutcome {
  std::string name;
  std::string metric;
  /// One run, `shifted` by the planted effect or not.
  std::function<double(Random& random, bool shifted)> draw;
  double margin = 0;
  double learns = 1;  ///< share of runs that are asked at all, where the metric is of learned ones
};

/// An answer that says there is a difference, or, with a margin, that there is none.
inline bool says_something(report::Verdict verdict) {
  return verdict == report::Verdict::kSupported || verdict == report::Verdict::kOpposite ||
         verdict == report::Verdict::kEquivalent;
}

/// Claims about variants that are compared with one baseline, seed by seed.
class SimulatedExperiment {
 public:
  /// @param shifted of the claims' variants, the first ones, have the planted effect
  SimulatedExperiment(const SimulatedOutcome& outcome, std::size_t claims, std::size_t shifted,
                      std::size_t seeds, Random random)
      : outcome_(outcome), metric_(report::metric_of(outcome.metric)), configs_(claims) {
    for (std::size_t claim = 0; claim < claims; ++claim) {
      configs_[claim].metric = outcome.metric;
      configs_[claim].expect = report::Expect::kLower;
      configs_[claim].margin = outcome.margin;
    }
    for (std::size_t variant = 0; variant <= claims; ++variant) {
      auto& runs = runs_.emplace_back();
      for (std::size_t seed = 0; seed < seeds; ++seed) {
        const bool learns = random.uniform() < outcome.learns;
        runs.push_back({outcome.draw(random, variant > 0 && variant <= shifted), learns});
      }
    }
  }

  /// What the first seeds say to each claim.
  std::vector<report::Question> questions(std::size_t seeds, double confidence) const {
    std::vector<report::Question> all;
    for (std::size_t claim = 0; claim < configs_.size(); ++claim) {
      report::Question one{.claim = &configs_[claim],
                           .metric = metric_,
                           .against = {},
                           .pairs = {},
                           .found = {},
                           .beyond = {}};
      for (std::size_t seed = 0; seed < seeds; ++seed) {
        const auto &ours = runs_[claim + 1][seed], &theirs = runs_[0][seed];
        if (!ours.learns || !theirs.learns) {
          ++one.pairs.unlearned;
          continue;
        }
        one.pairs.ours.push_back(ours.value);
        one.pairs.theirs.push_back(theirs.value);
        one.pairs.differences.push_back(ours.value - theirs.value);
      }
      one.found = report::contrast(one.pairs, metric_, confidence);
      one.needed = report::pairs_for_verdict(metric_, configs_.size());
      if (one.found) one.p.difference = one.found->p;
      if (outcome_.margin > 0) {
        one.p.equivalence = report::equivalence_p(one.pairs, metric_, outcome_.margin);
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  /// The verdicts after this many seeds for all, looked at once.
  std::vector<report::Verdict> judge_once(std::size_t seeds) const {
    const auto asked = questions(seeds, 1 - report::kAlpha);
    std::vector<TwoWayP> p;
    for (const auto& one : asked) p.push_back(one.p);
    const auto adjusted = holm_of_questions(p);
    std::vector<report::Verdict> verdicts;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      verdicts.push_back(report::judge(asked[i], adjusted[i], report::kAlpha));
    }
    return verdicts;
  }

  /// The claims after the last look that they needed. `sequence` has made none.
  std::vector<report::FollowedClaim> follow(report::ClaimSequence sequence,
                                            const std::vector<std::size_t>& looks) const {
    for (const auto seeds : looks) {
      if (sequence.open() == 0) break;
      sequence.look(questions(seeds, sequence.confidence()));
    }
    return sequence.claims();
  }

 private:
  struct SimulatedRun {
    double value;
    bool learns;
  };

  const SimulatedOutcome& outcome_;
  report::Metric metric_;
  std::vector<report::ClaimConfig> configs_;
  std::vector<std::vector<SimulatedRun>> runs_;  // of the baseline, then of each claim's variant
};

/// Runs without an effect: of every kind of outcome, and of shapes that tests are afraid of.
inline std::vector<SimulatedOutcome> outcomes_without_effect() {
  const auto exponential = [](Random& random) { return -std::log(1 - random.uniform()); };
  return {
      {"loss, normal", "test_loss", [](Random& r, bool) { return 2.4 + 0.1 * r.normal(); }},
      {"loss, skewed", "test_loss", [=](Random& r, bool) { return 2.4 + exponential(r); }},
      {"share near .5", "needle_accuracy", [](Random& r, bool) { return 0.3 + 0.4 * r.uniform(); }},
      {"share near .95", "needle_accuracy",
       [](Random& r, bool) { return 1 - 0.15 * std::pow(r.uniform(), 2); }},
      {"share, two peaks", "needle_accuracy",
       [](Random& r, bool) {
         return r.uniform() < 0.4 ? 0.25 + 0.05 * r.uniform() : 0.99 + 0.01 * r.uniform();
       }},
      {"share of those that learned, 80 %", "needle_accuracy",
       [](Random& r, bool) { return 0.9 + 0.05 * r.normal(); }, 0, 0.8},
      {"learned or not, 60 %", "learned",
       [](Random& r, bool) { return r.uniform() < 0.6 ? 1.0 : 0.0; }},
      {"time to an event, a tenth censored", "steps_to_90_accuracy",
       [=](Random& r, bool) { return std::min(1200., 520 * exponential(r)); }},
  };
}

/// Normal differences that are just as large as the margin: "equivalent" would be false.
inline SimulatedOutcome just_not_equivalent() {
  return {"loss, as different as the margin", "test_loss",
          [](Random& r, bool shifted) { return (shifted ? 0.14 : 0) + 0.1 * r.normal(); }, 0.14};
}

}  // namespace difflab::testing
