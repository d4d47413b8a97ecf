#include "report/table/question.h"

#include <algorithm>
#include <cmath>

#include "report/data/frame.h"
#include "report/settings/study.h"
#include "statistics/paired.h"

namespace difflab::report {
namespace {

std::vector<const FrameRun*> runs_of(const ClaimConfig& claim, const Frame& frame,
                                     const std::string& axis, const std::string& value) {
  std::vector<const FrameRun*> runs;
  for (const FrameRun& run : frame.runs()) {
    if (is_about(claim, axis, value, run) && run.has_result()) runs.push_back(&run);
  }
  return runs;
}

std::string beyond_regime(const Question& question, const Frame& frame) {
  const auto& [low, high] = question.claim->regime;
  const bool is_share = question.metric.outcome() == Outcome::kShare;
  auto floor = low, ceiling = high;
  const auto chance = frame.chance(question.metric.key);
  if (is_share && !floor && !chance.empty()) floor = chance.back() + 0.1;
  if (is_share && !ceiling) ceiling = 0.97;
  const auto [least, most] = std::minmax(question.found->ours, question.found->theirs);
  if (ceiling && least > *ceiling) return "both lie above " + question.metric.text(*ceiling);
  if (floor && most < *floor) return "both lie below " + question.metric.text(*floor);
  return "";
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSupported:
      return "supported";
    case Verdict::kOpposite:
      return "opposite";
    case Verdict::kEquivalent:
      return "equivalent";
    case Verdict::kUnresolved:
      return "not resolved";
    case Verdict::kUninformative:
      return "uninformative";
    case Verdict::kTooFew:
      return "no verdict";
    case Verdict::kUnmeasured:
      return "not measured";
  }
  return "";
}

bool is_about(const ClaimConfig& claim, const std::string& axis, const std::string& value,
              const FrameRun& run) {
  const auto& fixed = claim.where.entries;
  return run.axis(axis) == value && std::all_of(fixed.begin(), fixed.end(), [&](const auto& entry) {
           const auto number = parse_number(entry.second);
           return run.axis(entry.first) == entry.second ||
                  (number && parse_number(run.axis(entry.first)) == number);
         });
}

const std::string& compared_with(const ClaimConfig& claim, const Study& study) {
  return claim.against.empty() ? study.baseline : claim.against;
}

std::vector<Question> questions_of(const Study& study, const Frame& frame, double confidence) {
  const std::string axis = compared_axis(study.report, frame.axes());
  std::vector<Question> all;
  for (const ClaimConfig& claim : study.report.claims) {
    Question one{.claim = &claim,
                 .metric = metric_of(claim.metric),
                 .against = compared_with(claim, study),
                 .pairs = {},
                 .found = {},
                 .beyond = {}};
    one.pairs = pair_runs(frame, runs_of(claim, frame, axis, claim.variant),
                          runs_of(claim, frame, axis, one.against), {axis}, one.metric);
    one.found = contrast(one.pairs, one.metric, confidence);
    one.needed = pairs_for_verdict(one.metric, study.report.claims.size());
    if (one.found) {
      one.p.difference = one.found->p;
      one.beyond = beyond_regime(one, frame);
    }
    if (claim.margin > 0) one.p.equivalence = equivalence_p(one.pairs.differences, claim.margin);
    all.push_back(std::move(one));
  }
  return all;
}

bool as_expected(const Question& question) {
  return (question.found->difference > 0) == (question.claim->expect == Expect::kHigher);
}

Verdict judge(const Question& question, const TwoWayP& p, double level) {
  const auto& found = question.found;
  if (!found) return Verdict::kUnmeasured;
  if (found->pairs < question.needed) return Verdict::kTooFew;
  if (!question.beyond.empty()) return Verdict::kUninformative;
  if (is_resolved(*found, p.difference, level) &&
      std::abs(found->difference) > question.claim->smallest) {
    return as_expected(question) ? Verdict::kSupported : Verdict::kOpposite;
  }
  if (p.equivalence && *p.equivalence <= level) return Verdict::kEquivalent;
  return Verdict::kUnresolved;
}

}  // namespace difflab::report
