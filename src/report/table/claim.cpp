#include "report/table/claim.h"

#include <utility>

#include "config/schema/traits.h"
#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/settings/study.h"
#include "report/table/grid.h"
#include "statistics/holm.h"
#include "statistics/paired.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// A question with its verdict.
struct Judged {
  Question question;
  Verdict verdict;
  TwoWayP p;  // as printed
  std::size_t questions = 1;
};

std::string left_out(const Question& question) {
  const Pairs& pairs = question.pairs;
  std::string text = question.at_both;
  if (pairs.horizon) {
    text +=
        concat("; times up to ", question.metric.text(*pairs.horizon), ", which ", pairs.censored,
               " of ", number_of(pairs.differences.size(), "pair"), " did not reach");
  }
  if (pairs.unlearned > 0) {
    text += concat("; ", number_of(pairs.unlearned, "pair"), " left out, as one had not learned");
  }
  if (pairs.diverged > 0) {
    text += concat("; ", number_of(pairs.diverged, "pair"), " left out, as one diverged");
  }
  return text;
}

// p of the answer; where equivalence is expected, of a difference within the margin or beyond it.
double p_of_answer(const Judged& judged, const TwoWayP& p) {
  const bool is_of_margin =
      expects_equivalence(judged.question) && judged.verdict != Verdict::kOpposite;
  return is_of_margin ? p.equivalence.value_or(1) : p.difference;
}

// A margin, or the smallest difference that counts.
std::string size_text(const Question& question, double size) {
  return question.pairs.is_ratio ? concat(plain_number(100 * size), " %")
                                 : question.metric.text(size);
}

// "p = 0.008 among 3 claims (Holm)".
std::string p_text_of(const Judged& judged) {
  return named_p(p_of_answer(judged, judged.p)) +
         (judged.questions > 1 ? concat(" among ", judged.questions, " claims (Holm)") : "");
}

// "needle accuracy 0.444 (DIFF) against 0.998 (Transformer): −0.553 [−0.6, −0.5], p = 0.008 …".
std::string figures_of(const Judged& judged, const Labels& labels) {
  const auto& question = judged.question;
  const auto& [claim, metric, against, pairs, found, margin, p, beyond, chance, needed, both] =
      question;
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
                            found->is_ratio ? "), geometric means, ratio " : "), difference ",
                            effect_text(metric, found->difference, found->is_ratio));
  if (!found->interval) {
    return concat(text, " in ", found->pairs == 1 ? "one pair, which has" : "few pairs, which have",
                  " no interval", left_out(question));
  }
  return concat(text, ", 95 % interval ", range_text(metric, found->interval, found->is_ratio),
                ", ", found->pairs, found->is_ratio ? " seeds each, " : " paired seeds, ",
                p_text_of(judged), found->is_ratio ? concat(" by ", found->test) : "",
                left_out(question));
}

// Why their likeness is no equivalence, where a claim asks for one; "" otherwise.
std::string hidden(const Question& question) {
  const double margin = question.margin;
  if (margin <= 0 || !hides_differences(question.pairs) ||
      equivalence_p(question.pairs, question.metric, margin) > kAlpha) {
    return "";
  }
  return "Too many did not get there to call them equivalent. ";
}

// Sentence on an unresolved claim: why it is open, or how many seeds it would take.
std::string outlook(const Judged& judged) {
  const auto& question = judged.question;
  if (expects_equivalence(question)) {
    return concat(hidden(question), "Neither a difference of less than ",
                  size_text(question, question.margin), " nor one of more is shown.");
  }
  if (is_resolved(*question.found, judged.p.difference)) {
    return concat("It is clear, and no larger than the smallest difference that counts, ",
                  size_text(question, question.claim->smallest), ".");
  }
  const auto enough =
      pairs_needed(question.pairs.differences, kAlpha / static_cast<double>(judged.questions));
  return hidden(question) +
         (enough ? concat("A difference as large as this would take about ", *enough, " seeds.")
                 : "More than 1,000 seeds would be needed for a difference as small as this.");
}

std::string sentence(const std::string& text) {
  const bool ended = text.empty() || text.back() == '.' || text.back() == '?' || text.back() == '!';
  return ended ? text : text + ".";
}

// Sentence that adds to the verdict; empty if there is nothing to add.
std::string remark(const Judged& judged) {
  const auto& question = judged.question;
  const bool is_within = judged.verdict == Verdict::kSupported && expects_equivalence(question);
  switch (is_within ? Verdict::kEquivalent : judged.verdict) {
    case Verdict::kTooFew:
      if (expects_equivalence(question)) return "";
      return question.found->difference == 0 ? "So far they are equal."
             : as_expected(question)         ? "So far it points the expected way."
                                             : "So far it points the other way.";
    case Verdict::kUninformative:
      return question.beyond;
    case Verdict::kWithdrawn:
      return sentence(question.claim->withdrawn);
    case Verdict::kEquivalent:
      return concat("They differ by less than ", size_text(question, question.margin),
                    question.metric.outcome == Outcome::kHappened ? " (an exact test, "
                                                                  : " (two one-sided tests, ",
                    named_p(*judged.p.equivalence), ").");
    case Verdict::kUnresolved:
      return outlook(judged);
    default:
      return "";
  }
}

// "Supported with 8 seeds".
std::string head_of(const Judged& judged) {
  const auto& [question, verdict, p, questions] = judged;
  const std::string head = capital(std::string(name_of(verdict)));
  if (!question.found) return head;
  const auto pairs = question.found->pairs;
  const bool too_few = verdict == Verdict::kTooFew;
  if (!too_few) return head + " with " + number_of(pairs, "seed");
  if (const auto missing = question.pairs.missing; missing > 0) {
    return concat(head, " yet (", pairs, " of ", number_of(pairs + missing, "seed"), ")");
  }
  return concat(head, " (", number_of(pairs, "seed"), ", ", question.needed, " needed)");
}

Answer answer(const Judged& judged, const Labels& labels) {
  const auto& question = judged.question;
  Answer answer;
  answer.verdict = judged.verdict;
  answer.against = question.against;
  answer.figures = figures_of(judged, labels);
  answer.needed = question.needed;
  answer.found = question.found;
  if (answer.pairs() > 1) {
    answer.p = p_of_answer(judged, judged.p);
    answer.raw = p_of_answer(judged, question.p);
  }
  const auto more = remark(judged);
  const auto& claim = *question.claim;
  answer.text = concat(head_of(judged), ": ", sentence(claim.text), " ",
                       sentence(capital(answer.figures)), more.empty() ? "" : " ", more,
                       claim.paper.empty() ? "" : concat(" Source: ", sentence(claim.paper)));
  return answer;
}

// All claims at once, as each counts for the p of the others.
std::vector<Judged> judge_all(const Study& study, const Frame& frame) {
  auto questions = questions_of(study, frame);
  std::vector<TwoWayP> p;
  for (const Question& one : questions) p.push_back(one.p);
  const auto adjusted = holm_of_questions(p);
  std::vector<Judged> all;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto verdict = judge(questions[i], adjusted[i]);
    all.push_back({std::move(questions[i]), verdict, adjusted[i], questions.size()});
  }
  return all;
}

std::string where_text(const ClaimConfig& claim) {
  std::vector<std::string> parts;
  for (const auto& [axis, value] : claim.where.entries) parts.push_back(concat(axis, "=", value));
  return join(parts, " ");
}

}  // namespace

std::vector<Answer> answer_claims(const Study& study, const Frame& frame, const Labels& labels) {
  std::vector<Answer> answers;
  for (const Judged& judged : judge_all(study, frame)) answers.push_back(answer(judged, labels));
  return answers;
}

std::string claims_csv(const Study& study, const std::vector<Answer>& answers) {
  std::vector<std::string> head = {"claim",  "metric",  "variant",    "against",      "where",
                                   "expect", "verdict", "difference", "low",          "high",
                                   "p",      "level",   "pairs",      "pairs_needed", "published"};
  const bool has_ratios = study.report.times.compare == Compared::kRatios;
  if (has_ratios) head.insert(head.end(), kRatioColumns.begin(), kRatioColumns.end());
  std::string out = csv_line(head);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& claim = study.report.claims[i];
    const auto& answer = answers[i];
    const auto effect = effect_fields(answer.found);
    std::vector<std::string> line = {claim.text,
                                     claim.metric,
                                     claim.variant,
                                     answer.against,
                                     where_text(claim),
                                     std::string(config::name_of(claim.expect)),
                                     std::string(name_of(answer.verdict))};
    line.insert(line.end(), effect.begin(), effect.begin() + 3);
    line.insert(line.end(), {plain_number(answer.p), "" /* level */, concat(answer.pairs()),
                             concat(answer.needed), claim.paper});
    if (has_ratios) line.insert(line.end(), effect.begin() + 3, effect.end());
    out += csv_line(line);
  }
  return out;
}

std::string claims_tex(const Study& study, const std::vector<Answer>& answers,
                       const Labels& labels) {
  Grid grid;
  const bool has_ratios = study.report.times.compare == Compared::kRatios;
  grid.columns = {{"claim", true},
                  {"metric", true},
                  {has_ratios ? "difference or ratio" : "difference", false},
                  {"95 % interval", false},
                  {"p (Holm)", false},
                  {"pairs", false},
                  {"verdict", true}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& claim = study.report.claims[i];
    const auto& answer = answers[i];
    const Metric metric = metric_of(claim.metric);
    grid.rows.push_back(
        {claim.text, labels.heading(metric), answer.found ? effect_cell(metric, *answer.found) : "",
         answer.found ? range_text(metric, answer.found->interval, answer.found->is_ratio) : "",
         answer.p ? p_text(*answer.p) : "", concat(answer.pairs()),
         std::string(name_of(answer.verdict))});
  }
  return tex_comment("Claims of " + study.name + ", corrected for their number.") +
         tex_comment("Needs \\usepackage{array,booktabs}.") + to_tex(grid);
}

}  // namespace difflab::report
