#include "report/table/question.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/data/company.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/settings/study.h"
#include "statistics/paired.h"
#include "util/text.h"

namespace difflab::report {
namespace {

std::vector<const FrameRun*> runs_of(const ClaimConfig& claim, const Frame& frame,
                                     const std::string& axis, const std::string& value) {
  std::vector<const FrameRun*> runs;
  for (const FrameRun& run : frame.runs()) {
    if (is_about(claim, axis, value, run)) runs.push_back(&run);
  }
  return runs;
}

// Why the pairs that are there do not speak for all that were asked; "" if they do.
std::string loss_of_pairs(const Question& question) {
  const auto& pairs = question.pairs;
  const auto all = pairs.differences.size() + pairs.diverged;
  if (are_too_many(pairs.diverged, all)) {
    return concat("In ", pairs.diverged, " of ", all,
                  " pairs a run diverged, and the others are no answer for all.");
  }
  if (pairs.horizon && pairs.latest > *pairs.horizon) {
    return concat("A run was followed up to ", question.metric.text(*pairs.horizon),
                  " alone, and others got there later.");
  }
  return "";
}

// Why equal outcomes say nothing: nothing, or everything, happened in all runs.
std::string lack_of_events(const Question& question) {
  const auto& pairs = question.pairs;
  const auto all_are = [&](double value) {
    const auto is_it = [value](double one) { return one == value; };
    return std::ranges::all_of(pairs.ours, is_it) && std::ranges::all_of(pairs.theirs, is_it);
  };
  if (pairs.horizon && all_are(pairs.is_ratio ? log_of_time(*pairs.horizon) : *pairs.horizon)) {
    return concat("No run got there within ", question.metric.text(*pairs.horizon), ".");
  }
  if (question.metric.outcome != Outcome::kHappened) return "";
  return all_are(0) ? "It happened in no run." : all_are(1) ? "It happened in every run." : "";
}

std::string beyond_regime(const Question& question) {
  const auto& chance = question.chance;
  if (question.metric.outcome != Outcome::kShare) return "";
  const double floor = chance.empty() ? -1 : chance.back() + .1, ceiling = .97;
  const auto [least, most] = std::minmax(question.found->ours, question.found->theirs);
  const auto cannot = [&](const char* where, double limit) {
    return concat("The metric cannot tell them apart here: both lie ", where, " ",
                  question.metric.text(limit), ".");
  };
  if (least > ceiling) return cannot("above", ceiling);
  return most < floor ? cannot("below", floor) : "";
}

// Seconds and speeds are data of runs that were alone.
std::string beside_others(const Metric& metric, const std::vector<const FrameRun*>& runs) {
  if (!metric.is_of_machine()) return "";
  const auto with = company_of(runs).with;
  return with.empty() ? "" : concat("Runs shared a machine: ", with, ".");
}

// Why these runs cannot answer, the first of all reasons; "" if they can.
std::string what_is_beyond(const Question& question, const std::vector<const FrameRun*>& runs) {
  for (auto reason : {beside_others(question.metric, runs), loss_of_pairs(question),
                      lack_of_events(question), beyond_regime(question)}) {
    if (!reason.empty()) return reason;
  }
  return "";
}

// A variant's tuning in the claim's cell; null if that has no finalists by the claim's metric.
const Tuned::Variant* finals_of(const ClaimConfig& claim, const Study& study,
                                const std::string& axis, const std::string& value) {
  if (!study.tuned || study.tuned->metric != claim.metric) return nullptr;
  const auto& where = claim.where.entries;
  for (const auto& variant : study.tuned->variants) {
    const bool is_meant = std::ranges::all_of(variant.axes, [&](auto& one) {
      if (one.first == axis) return is_same_value(one.second, value);
      return std::ranges::any_of(where, [&](const auto& entry) {
        return entry.first == one.first && is_same_value(entry.second, one.second);
      });
    });
    if (is_meant && !variant.finalists.empty()) return &variant;
  }
  return nullptr;
}

// Smaller is better; empty without a run that has the metric. A run that did not get there counts
// as long as it was waited for.
std::optional<double> mean_of_runs(const std::vector<const FrameRun*>& runs, const Metric& metric,
                                   const TimesConfig& times) {
  std::vector<double> values;
  for (const auto* run : runs) {
    const auto value = run->reached(metric.key);
    if (!value) continue;
    values.push_back(is_ratio(metric, times) ? log_of_time(*value) : *value);
  }
  if (values.empty()) return std::nullopt;
  return mean(values);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"supported",    "opposite",      "equivalent",
                                                "not resolved", "uninformative", "no verdict",
                                                "not measured", "withdrawn"};
  return kNames[static_cast<std::size_t>(verdict)];
}

bool is_in_cell(const ClaimConfig& claim, const FrameRun& run) {
  const auto& fixed = claim.where.entries;
  return std::ranges::all_of(
      fixed, [&](const auto& entry) { return is_same_value(run.axis(entry.first), entry.second); });
}

bool is_about(const ClaimConfig& claim, const std::string& axis, const std::string& value,
              const FrameRun& run) {
  return is_same_value(run.axis(axis), value) && is_in_cell(claim, run);
}

std::string compared_with(const ClaimConfig& claim, const Study& study, const Frame& frame) {
  if (claim.against.empty()) return study.baseline;
  if (claim.against != kBestOpponent) return claim.against;
  const std::string axis = compared_axis(study.report, frame.axes());
  const Metric metric = metric_of(claim.metric);
  const auto& names = study.report.opponents;
  const bool are_tuned = std::ranges::all_of(
      names, [&](const auto& name) { return finals_of(claim, study, axis, name) != nullptr; });
  std::string best = names.empty() ? study.baseline : names.front();
  std::optional<double> least;
  for (const auto& name : names) {
    auto center = are_tuned
                      ? std::optional(study.tuned->mean_of(
                            finals_of(claim, study, axis, name)->finalists.front()))
                      : mean_of_runs(runs_of(claim, frame, axis, name), metric, frame.times());
    if (center && metric.better == Better::kHigher) center = -*center;
    if (!center || (least && *center >= *least)) continue;
    least = center;
    best = name;
  }
  return best;
}

std::vector<Question> questions_of(const Study& study, const Frame& frame) {
  const std::string axis = compared_axis(study.report, frame.axes());
  std::vector<Question> all;
  for (const ClaimConfig& claim : study.report.claims) {
    Question one{.claim = &claim,
                 .metric = metric_of(claim.metric),
                 .against = compared_with(claim, study, frame)};
    const auto ours = runs_of(claim, frame, axis, claim.variant);
    const auto theirs = runs_of(claim, frame, axis, one.against);
    one.pairs = pair_runs(frame, ours, theirs, {axis}, one.metric);
    one.found = contrast(one.pairs, one.metric);
    one.needed = pairs_for_verdict(one.metric, study.report.claims.size(), frame.times());
    one.margin = claim.margin_with(frame.times());
    if (one.found) {
      one.p.difference = expects_equivalence(one)
                             ? beyond_margin_p(one.pairs, one.metric, one.margin)
                             : one.found->p;
      auto both = ours;
      both.insert(both.end(), theirs.begin(), theirs.end());
      one.chance = chance_in(both, claim.metric);
      one.beyond = what_is_beyond(one, both);
    }
    if (one.margin > 0) {
      one.p.equivalence =
          hides_differences(one.pairs) ? 1 : equivalence_p(one.pairs, one.metric, one.margin);
    }
    const auto* finals = finals_of(claim, study, axis, one.against);
    if (finals != nullptr && study.tuned->ties(*finals)) {
      hold_at_both(one, finals->finalists.back().metrics);
    }
    all.push_back(std::move(one));
  }
  return all;
}

void hold_at_both(Question& question, std::span<const double> times) {
  const auto& pairs = question.pairs;
  if (!question.found || !pairs.is_ratio || times.empty()) return;
  std::vector<double> logs;
  for (const double time : times) {
    logs.push_back(log_of_time(std::min(time, pairs.horizon.value_or(time))));
  }
  const auto test = ShiftTest::unpaired(pairs.ours, logs);
  const double apart = mean(pairs.ours) - mean(logs), margin = std::log1p(question.margin);
  const bool is_same_side = (apart > 0) == (question.found->difference > 0);
  double p = test.p();
  if (expects_equivalence(question)) {
    p = std::abs(apart) > margin ? test.p(std::copysign(margin, apart)) : 1;
  }
  question.p.difference = is_same_side ? std::max(question.p.difference, p) : 1;
  if (auto& within = question.p.equivalence) within = std::max(*within, test.equivalence_p(margin));
  question.at_both =
      concat("; at the other value of its tuning that ties, ", logs.size(), " runs, ratio ",
             effect_text(question.metric, apart, true), ", ", named_p(test.p()));
}

bool hides_differences(const Pairs& pairs) {
  return are_too_many(pairs.censored, pairs.differences.size());
}

bool expects_equivalence(const Question& question) {
  return question.claim->expect == Expect::kEquivalent;
}

bool as_expected(const Question& question) {
  return (question.found->difference > 0) == (question.claim->expect == Expect::kHigher);
}

Verdict judge(const Question& question, const TwoWayP& p) {
  const auto& found = question.found;
  if (!found) return Verdict::kUnmeasured;
  if (found->pairs < question.needed || question.pairs.missing > 0) return Verdict::kTooFew;
  if (!question.claim->withdrawn.empty()) return Verdict::kWithdrawn;
  if (!question.beyond.empty()) return Verdict::kUninformative;
  if (expects_equivalence(question)) {
    if (p.equivalence && *p.equivalence <= kAlpha) return Verdict::kSupported;
    return p.difference <= kAlpha ? Verdict::kOpposite : Verdict::kUnresolved;
  }
  const double smallest = question.claim->smallest;
  if (is_resolved(*found, p.difference) &&
      std::abs(found->difference) > (found->is_ratio ? std::log1p(smallest) : smallest)) {
    return as_expected(question) ? Verdict::kSupported : Verdict::kOpposite;
  }
  if (p.equivalence && *p.equivalence <= kAlpha) return Verdict::kEquivalent;
  return Verdict::kUnresolved;
}

}  // namespace difflab::report
