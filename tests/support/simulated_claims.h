#pragma once
// Experiments without files: runs are drawn, and their claims judged as the report judges them.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "report/data/frame.h"
#include "report/data/learned.h"
#include "report/data/metric.h"
#include "report/settings/study.h"
#include "report/table/question.h"
#include "statistics/holm.h"
#include "util/json.h"
#include "util/random.h"

namespace difflab::testing {

/// What the runs of a simulated experiment are like.
struct SimulatedOutcome {
  std::string name;
  std::string metric;
  /// One run, `shifted` by the planted effect or not.
  std::function<double(Random& random, bool shifted)> draw;
  double margin = 0;
  double learns = 1;   ///< share of runs that are asked at all, where the metric is of learned ones
  double horizon = 0;  ///< when runs end that have not got there; 0: none ends before
  report::TimesConfig times = {};
  report::Expect expect = report::Expect::kLower;
  double alike = 0;  ///< standard deviation of the logarithm of what runs of a seed share
};

/// An answer that says there is a difference, or, with a margin, that there is none.
inline bool says_something(report::Verdict verdict) {
  return verdict == report::Verdict::kSupported || verdict == report::Verdict::kOpposite ||
         verdict == report::Verdict::kEquivalent;
}

/// Claims about variants that are compared with one baseline, seed by seed. The report's own code
/// reads the runs, pairs them and judges.
class SimulatedExperiment {
 public:
  /// @param shifted of the claims' variants, the first ones, have the planted effect
  SimulatedExperiment(const SimulatedOutcome& outcome, std::size_t claims, std::size_t shifted,
                      std::size_t seeds, Random random)
      : frame_({}, "", {}, {}) {
    study_.baseline = "0";
    study_.report.times = outcome.times;
    std::vector<report::FrameRun> runs;
    std::vector<double> common(seeds);
    if (outcome.alike > 0)
      std::generate(common.begin(), common.end(), [&] { return random.normal(); });
    for (std::size_t variant = 0; variant <= claims; ++variant) {
      if (variant > 0) {
        report::ClaimConfig claim;
        claim.metric = outcome.metric;
        claim.variant = std::to_string(variant);
        claim.expect = outcome.expect;
        claim.margin = outcome.margin;
        study_.report.claims.push_back(std::move(claim));
      }
      for (std::size_t seed = 0; seed < seeds; ++seed) {
        const bool learns = random.uniform() < outcome.learns;
        double value = outcome.draw(random, variant > 0 && variant <= shifted);
        if (outcome.alike > 0) value *= std::exp(outcome.alike * common[seed]);
        report::FrameRun& run = runs.emplace_back();
        run.plan.axes = {{"model", std::to_string(variant)}, {"seed", std::to_string(seed)}};
        run.state = RunState::kFinished;
        run.result = result_of(outcome, value, learns);
      }
    }
    frame_ = report::Frame(std::move(runs), study_.baseline, {}, {}, outcome.times);
  }

  std::vector<report::Verdict> verdicts() const {
    const auto asked = report::questions_of(study_, frame_);
    std::vector<TwoWayP> p;
    for (const auto& one : asked) p.push_back(one.p);
    const auto adjusted = holm_of_questions(p);
    std::vector<report::Verdict> all;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      all.push_back(report::judge(asked[i], adjusted[i]));
    }
    return all;
  }

 private:
  static Json result_of(const SimulatedOutcome& outcome, double value, bool learns) {
    Json metrics{{outcome.metric, value}};
    if (outcome.learns < 1) metrics[report::kLearned] = learns ? 1 : 0;
    if (outcome.horizon == 0 || value < outcome.horizon) return {{"metrics", std::move(metrics)}};
    metrics[outcome.metric] = nullptr;
    return {{"metrics", std::move(metrics)}, {"censored", {{outcome.metric, outcome.horizon}}}};
  }
  report::Study study_;
  report::Frame frame_;
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
       [=](Random& r, bool) { return 520 * exponential(r); }, 0, 1, 1200},
      {"time to an event, half censored", "steps_to_90_accuracy",
       [=](Random& r, bool) { return 520 * exponential(r); }, 0, 1, 360},
  };
}

/// Times that are compared as ratios, all alike: skewed, rounded as checks of an event round them,
/// shared by the runs of a seed, or cut off.
inline std::vector<SimulatedOutcome> ratios_without_effect() {
  const report::TimesConfig ratios{report::Compared::kRatios, {0.1}};
  const auto times = [](double sd) {
    return [sd](Random& r, bool) { return 5 * std::ceil(50 * std::exp(sd * r.normal())); };
  };
  SimulatedOutcome narrow{"times, log-normal, sd .15", "steps_to_found", times(0.15)};
  SimulatedOutcome wide{"times, log-normal, sd .6", "steps_to_found", times(0.6)};
  SimulatedOutcome slow{"times, one in ten twice as long", "steps_to_found", [](Random& r, bool) {
                          return (r.uniform() < 0.1 ? 600 : 300) * std::exp(0.1 * r.normal());
                        }};
  SimulatedOutcome shared{"times, correlation .5", "steps_to_found", times(0.2)};
  shared.alike = 0.2;
  SimulatedOutcome alike{"times, correlation .9", "steps_to_found", times(0.1)};
  alike.alike = 0.3;
  SimulatedOutcome cut{"times, exponential, a tenth censored", "steps_to_found",
                       [](Random& r, bool) { return 520 * -std::log(1 - r.uniform()); }};
  cut.horizon = 1200;
  std::vector<SimulatedOutcome> all{narrow, wide, slow, shared, alike, cut};
  for (auto& one : all) one.times = ratios;
  return all;
}

/// Times of which one is this much longer, asked for equivalence within a tenth. At 1.1 neither
/// answer is true.
inline SimulatedOutcome longer_by(double ratio, double alike) {
  SimulatedOutcome outcome{
      "times, " + std::to_string(ratio) + " times as long, shared " + std::to_string(alike),
      "steps_to_found", [ratio](Random& r, bool shifted) {
        return (shifted ? ratio : 1) * 300 * std::exp(0.1 * r.normal());
      }};
  outcome.times = {report::Compared::kRatios, {0.1}};
  outcome.expect = report::Expect::kEquivalent;
  outcome.alike = alike;
  return outcome;
}

/// Normal differences that are just as large as the margin: "equivalent" would be false.
inline SimulatedOutcome just_not_equivalent() {
  return {"loss, as different as the margin", "test_loss",
          [](Random& r, bool shifted) { return (shifted ? 0.14 : 0) + 0.1 * r.normal(); }, 0.14};
}

/// Times of which one is four times the other, though few of either are seen within the horizon:
/// "equivalent" would be false.
inline SimulatedOutcome times_out_of_sight() {
  return {"time to an event, fourfold, few seen",
          "steps_to_90_accuracy",
          [](Random& r, bool shifted) {
            return (shifted ? 40'000 : 10'000) * -std::log(1 - r.uniform());
          },
          100,
          1,
          1000};
}

}  // namespace difflab::testing
