#include "report/table/claim.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/data/pairs.h"
#include "report/settings/study.h"
#include "statistics/holm.h"
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

// A claim beside what was measured for it.
struct Question {
  const ClaimConfig* claim;
  Metric metric;
  std::string against;
  Pairs pairs;
  std::optional<Contrast> found;
  TwoWayP p = {1, {}};  // adjusted for the number of claims
  std::size_t needed = 0;
};

// What the metric cannot tell apart, if so: "both lie above 0.970".
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

bool as_expected(const Question& question) {
  return (question.found->difference > 0) == (question.claim->expect == Expect::kHigher);
}

Verdict judge(const Question& question, const Frame& frame) {
  const auto& found = question.found;
  if (!found) return Verdict::kUnmeasured;
  if (found->pairs < question.needed) return Verdict::kTooFew;
  if (!beyond_regime(question, frame).empty()) return Verdict::kUninformative;
  if (is_resolved(*found, question.p.difference) &&
      std::abs(found->difference) > question.claim->smallest) {
    return as_expected(question) ? Verdict::kSupported : Verdict::kOpposite;
  }
  if (question.p.equivalence && *question.p.equivalence <= kAlpha) return Verdict::kEquivalent;
  return Verdict::kUnresolved;
}

std::string number_of(std::size_t count, const char* what) {
  return concat(count, " ", what, count == 1 ? "" : "s");
}

std::string left_out(const Question& question) {
  const Pairs& pairs = question.pairs;
  std::string text;
  if (pairs.horizon) {
    text +=
        concat("; times up to ", question.metric.text(*pairs.horizon), ", which ", pairs.censored,
               " of ", number_of(pairs.differences.size(), "pair"), " did not reach");
  }
  if (pairs.unlearned > 0) {
    text += concat("; ", number_of(pairs.unlearned, "pair"), " left out, as one had not learned");
  }
  return text;
}

// "needle accuracy 0.444 (DIFF) against 0.998 (Transformer): −0.553 [−0.6, −0.5], p = 0.008 …".
std::string figures_of(const Question& question, std::size_t questions, const Labels& labels) {
  const auto& [claim, metric, against, pairs, found, p, needed] = question;
  const std::string name = labels.heading(metric);
  if (!found) {
    const std::string of = labels.value(claim->variant) + " and " + labels.value(against);
    if (pairs.unlearned > 0) {
      return concat("in none of ", number_of(pairs.unlearned, "pair"), " of ", of,
                    " have both learned, so that ", name, " asks nothing");
    }
    return concat("no pair of finished runs of ", of, " has ", name);
  }
  std::string text = concat(name, " ", metric.text(found->ours), " (", labels.value(claim->variant),
                            ") against ", metric.text(found->theirs), " (", labels.value(against),
                            "), difference ", metric.signed_text(found->difference));
  if (!found->interval) return text + " in one pair, which has no interval" + left_out(question);
  return concat(text, ", 95 % interval ", metric.signed_text(found->interval->low), " to ",
                metric.signed_text(found->interval->high), ", ", found->pairs, " paired seeds, ",
                named_p(p.difference),
                questions > 1 ? concat(" among ", questions, " claims (Holm)") : "",
                left_out(question));
}

// What the verdict alone does not say.
std::string remark(const Question& question, Verdict verdict, std::size_t questions,
                   const Frame& frame) {
  const auto& found = question.found;
  switch (verdict) {
    case Verdict::kTooFew:
      return found->difference == 0  ? "So far they are equal."
             : as_expected(question) ? "So far it points the expected way."
                                     : "So far it points the other way.";
    case Verdict::kUninformative:
      return "The metric cannot tell them apart here: " + beyond_regime(question, frame) + ".";
    case Verdict::kEquivalent:
      return concat("They differ by less than ", question.metric.text(question.claim->margin),
                    " (two one-sided tests, ", named_p(*question.p.equivalence), ").");
    case Verdict::kUnresolved: {
      const auto enough =
          pairs_needed(question.pairs.differences, kAlpha / static_cast<double>(questions));
      return enough ? concat("A difference as large as this would take about ", *enough, " seeds.")
                    : "More than 1,000 seeds would be needed for a difference as small as this.";
    }
    default:
      return "";
  }
}

// All claims at once, as each counts for the p of the others.
std::vector<Question> questions_of(const Study& study, const Frame& frame,
                                   const std::string& axis) {
  std::vector<Question> all;
  for (const ClaimConfig& claim : study.report.claims) {
    Question one{.claim = &claim,
                 .metric = metric_of(claim.metric),
                 .against = claim.against.empty() ? study.baseline : claim.against,
                 .pairs = {},
                 .found = {}};
    one.pairs = pair_runs(frame, runs_of(claim, frame, axis, claim.variant),
                          runs_of(claim, frame, axis, one.against), {axis}, one.metric);
    one.found = contrast(one.pairs, one.metric);
    one.needed = pairs_for_verdict(one.metric, study.report.claims.size());
    all.push_back(std::move(one));
  }
  std::vector<TwoWayP> p;
  for (const Question& one : all) {
    TwoWayP raw{one.found ? one.found->p : 1, {}};
    if (one.claim->margin > 0) {
      raw.equivalence = equivalence_p(one.pairs.differences, one.claim->margin);
    }
    p.push_back(raw);
  }
  const auto adjusted = holm_of_questions(p);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].p = adjusted[i];
  return all;
}

std::string sentence(const std::string& text) {
  const bool ended = text.empty() || text.back() == '.' || text.back() == '?' || text.back() == '!';
  return ended ? text : text + ".";
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

Answer answer(const Question& question, std::size_t questions, const Frame& frame,
              const Labels& labels) {
  Answer answer;
  answer.verdict = judge(question, frame);
  answer.figures = figures_of(question, questions, labels);
  std::string head = capital(std::string(name_of(answer.verdict)));
  answer.needed = question.needed;
  if (const auto& found = question.found) {
    answer.difference = found->difference;
    answer.interval = found->interval;
    answer.pairs = found->pairs;
    if (found->pairs > 1) answer.p = question.p.difference;
    head += answer.verdict == Verdict::kTooFew
                ? concat(" (", number_of(found->pairs, "seed"), ", ", question.needed, " needed)")
                : " with " + number_of(found->pairs, "seed");
  }
  const auto more = remark(question, answer.verdict, questions, frame);
  const auto& claim = *question.claim;
  answer.text = concat(head, ": ", sentence(claim.text), " ", sentence(capital(answer.figures)),
                       more.empty() ? "" : " ", more,
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

std::vector<Answer> answer_claims(const Study& study, const Frame& frame, const Labels& labels) {
  const std::string axis = compared_axis(study.report, frame.axes());
  const auto questions = questions_of(study, frame, axis);
  std::vector<Answer> answers;
  for (const Question& question : questions) {
    answers.push_back(answer(question, questions.size(), frame, labels));
  }
  return answers;
}

}  // namespace difflab::report
