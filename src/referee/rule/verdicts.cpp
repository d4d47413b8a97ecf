// A verdict needs enough seeds, and its exact p, adjusted for the claims, and interval to agree.
#include <set>
#include <string>

#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "report/table/claim.h"
#include "report/table/question.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

using report::kAlpha;

void check_side(const Reference& one, const Statement& statement, Objections& objections) {
  const auto& interval = statement.interval;
  if (!interval) return objections.cannot_check(one, statement.place(), "it shows no interval");
  if (!statement.is_of_margin && interval->low < 0 && interval->high > 0) {
    objections.object(one, statement.place(),
                      concat(statement.verdict, " beside an interval that contains 0"));
  }
  if (statement.p && *statement.p > kAlpha) {
    objections.object(one, statement.place(),
                      concat(statement.verdict, " beside ", report::named_p(*statement.p)));
  }
  if (!statement.p) objections.cannot_check(one, statement.place(), "its adjusted p is missing");
}

// Objects to verdicts and pairs that differ from what the metrics in runs.json give today.
void compare_with_runs(const Reference& one, Objections& objections) {
  const auto& study = one.archive->study;
  const report::Labels labels(study.report.labels);
  const auto answers = report::answer_claims(study, one.archive->frame, labels);
  if (answers.size() != one.statements.size()) {
    return objections.object(
        one, "claims.csv",
        concat("it has ", one.statements.size(), " of ", answers.size(), " claims"));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& told = one.statements[i];
    const auto verdict = report::name_of(answers[i].verdict);
    if (told.verdict == verdict && told.pairs == answers[i].pairs()) continue;
    objections.object(one, told.place(),
                      concat("it says ", told.verdict, " with ", told.pairs,
                             " pairs; the runs say ", verdict, " with ", answers[i].pairs()));
  }
}

// Seeds of one side alone were chosen, if only by the moment at which somebody stopped.
void compare_seeds(const Reference& one, Objections& objections) {
  const auto& study = one.archive->study;
  const auto& frame = one.archive->frame;
  const std::string axis = one.compared_axis();
  for (const auto& claim : study.report.claims) {
    const auto other = report::compared_with(claim, study, frame);
    std::set<std::string> ours, theirs;
    for (const auto& run : frame.runs()) {
      const std::string seed(run.axis(report::kSeedAxis));
      if (report::is_about(claim, axis, claim.variant, run)) ours.insert(seed);
      if (report::is_about(claim, axis, other, run)) theirs.insert(seed);
    }
    // A side without a run is not measured, and its claim says so.
    if (ours == theirs || ours.empty() || theirs.empty()) continue;
    objections.object(one, concat("claim \"", claim.text, "\""),
                      concat(claim.variant, " and ", other, " differ in seeds: ", ours.size(),
                             " and ", theirs.size()));
  }
}

}  // namespace

void check_seeds(const Reference& one, Objections& objections) {
  if (one.archive) compare_seeds(one, objections);
  for (const auto& statement : one.statements) {
    if (!statement.judges()) continue;
    const auto metric = report::metric_of(statement.metric);
    const report::TimesConfig times{.compare = statement.is_ratio ? report::Compared::kRatios
                                                                  : report::Compared::kDifferences};
    const auto needed = report::pairs_for_verdict(metric, one.statements.size(), times);
    if (statement.pairs >= needed) continue;
    objections.object(
        one, statement.place(),
        concat(statement.verdict, " with ", statement.pairs, " pairs; ", needed,
               " are needed among ", report::number_of(one.statements.size(), "claim")));
  }
}

void check_verdicts(const Reference& one, Objections& objections) {
  for (const auto& statement : one.statements) {
    if (statement.takes_sides()) check_side(one, statement, objections);
  }
  if (one.archive) compare_with_runs(one, objections);
}

}  // namespace difflab::referee
