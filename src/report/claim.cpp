#include "report/claim.h"

#include <algorithm>
#include <cctype>

#include "report/frame.h"
#include "report/metric.h"
#include "report/pairs.h"
#include "report/report.h"
#include "statistics/paired.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// The runs with this value of the compared axis and the claim's values of the others.
std::vector<const FrameRun*> runs_of(const ClaimConfig& claim, const Frame& frame,
                                     const std::string& axis, const std::string& value) {
  std::vector<const FrameRun*> runs;
  for (const FrameRun& run : frame.runs()) {
    const auto& fixed = claim.where.entries;
    const bool matches =
        run.axis(axis) == value && std::all_of(fixed.begin(), fixed.end(), [&](const auto& entry) {
          const auto number = parse_number(entry.second);
          return run.axis(entry.first) == entry.second ||
                 (number && parse_number(run.axis(entry.first)) == number);
        });
    if (matches && run.has_result()) runs.push_back(&run);
  }
  return runs;
}

Verdict judge(Expect expect, const Pairs& pairs, const std::optional<PairedComparison>& compared) {
  if (pairs.censored > 0) return Verdict::kUnresolved;
  if (!compared) return Verdict::kUnmeasured;
  const auto& interval = compared->interval;
  if (!interval || (interval->low <= 0 && interval->high >= 0)) return Verdict::kUnresolved;
  const bool higher = interval->low > 0;
  return higher == (expect == Expect::kHigher) ? Verdict::kSupported : Verdict::kOpposite;
}

std::string seeds(std::size_t count) { return concat(count, count == 1 ? " seed" : " seeds"); }

// "needle accuracy 0.444 (DIFF) against 0.998 (Transformer): −0.553, 95 % interval …".
std::string figures_of(const ClaimConfig& claim, const std::string& against, const Pairs& pairs,
                       const std::optional<PairedComparison>& compared, const Labels& labels) {
  const Metric metric = metric_of(claim.metric);
  const std::string name = labels.heading(metric);
  if (pairs.censored > 0) {
    return concat(name, " of ", labels.value(claim.variant), " and ", labels.value(against),
                  " cannot be subtracted: in ", pairs.censored, " of ",
                  pairs.censored + pairs.differences.size(),
                  " pairs a run had not got there when training ended");
  }
  if (!compared) {
    return concat("no pair of finished runs of ", labels.value(claim.variant), " and ",
                  labels.value(against), " has ", name);
  }
  std::string text =
      concat(name, " ", metric.text(mean(pairs.ours)), " (", labels.value(claim.variant),
             ") against ", metric.text(mean(pairs.theirs)), " (", labels.value(against),
             "), difference ", metric.signed_text(compared->difference));
  if (!compared->interval) return text + " in one pair, which has no interval";
  return concat(text, ", 95 % interval ", metric.signed_text(compared->interval->low), " to ",
                metric.signed_text(compared->interval->high), ", ", compared->pairs,
                " paired seeds");
}

std::string sentence(const std::string& text) {
  const bool ended = text.empty() || text.back() == '.' || text.back() == '?' || text.back() == '!';
  return ended ? text : text + ".";
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

Answer answer(const ClaimConfig& claim, const Study& study, const Frame& frame,
              const std::string& axis, const Labels& labels) {
  const std::string against = claim.against.empty() ? study.baseline : claim.against;
  const Pairs pairs = pair_runs(frame, runs_of(claim, frame, axis, claim.variant),
                                runs_of(claim, frame, axis, against), {axis}, claim.metric);
  const auto compared = compare_paired(pairs.differences);
  Answer answer;
  answer.verdict = judge(claim.expect, pairs, compared);
  answer.figures = figures_of(claim, against, pairs, compared, labels);
  std::string head = capital(std::string(name_of(answer.verdict)));
  if (answer.verdict != Verdict::kUnmeasured) {
    head += " with " + seeds(pairs.differences.size() + pairs.censored);
  }
  answer.text = concat(head, ": ", sentence(claim.text), " ", sentence(capital(answer.figures)),
                       claim.paper.empty() ? "" : concat(" Source: ", sentence(claim.paper)));
  return answer;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSupported:
      return "supported";
    case Verdict::kOpposite:
      return "opposite";
    case Verdict::kUnresolved:
      return "not resolved";
    case Verdict::kUnmeasured:
      return "not measured";
  }
  return "";
}

void ClaimConfig::validate(config::Check& check) const {
  const auto require = [&](std::string_view key, const std::string& value, const char* what) {
    if (value.empty()) check.problem(key, concat("is missing; expected ", what));
  };
  require("text", text, "what is claimed");
  require("metric", metric, "the name of a metric");
  require("variant", variant, "a value of the tables' first axis");
  if (variant == against && !variant.empty()) {
    check.problem("against", "is the variant itself; expected another one");
  }
}

std::vector<Answer> answer_claims(const Study& study, const Frame& frame, const Labels& labels) {
  const std::string axis = compared_axis(study.report, frame.axes());
  std::vector<Answer> answers;
  for (const ClaimConfig& claim : study.report.claims) {
    answers.push_back(answer(claim, study, frame, axis, labels));
  }
  return answers;
}

std::string compared_axis(const ReportConfig& report, const std::vector<std::string>& axes) {
  if (!report.tables.empty() && !report.tables[0].rows.names.empty()) {
    return report.tables[0].rows.names[0];
  }
  const auto first = std::find_if(axes.begin(), axes.end(),
                                  [](const std::string& axis) { return axis != kSeedAxis; });
  return first == axes.end() ? "" : *first;
}

}  // namespace difflab::report
