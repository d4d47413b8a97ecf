// A metric at its ceiling or floor, or a language model no better than a table of counts, cannot
// tell two variants apart.
#include <algorithm>

#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "report/table/question.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr double kCeiling = 0.97;
constexpr double kAboveChance = 0.1;
constexpr double kAnyFloor = 0.6;  // of two answers chance is right in half

// The claims' questions with what the runs found; none if claims.csv has another number of claims.
std::vector<report::Question> questions_of(const Reference& one) {
  if (!one.archive) return {};
  auto questions = report::questions_of(one.archive->study, one.archive->frame);
  if (questions.size() != one.statements.size()) questions.clear();  // "verdicts" says so
  return questions;
}

void check_share(const Reference& one, const Statement& statement, const report::Question& question,
                 Objections& objections) {
  const auto& metric = question.metric;
  const auto [least, most] = std::minmax(question.found->ours, question.found->theirs);
  const auto values =
      concat(metric.text(question.found->ours), " against ", metric.text(question.found->theirs));
  if (least > kCeiling) {
    objections.object(one, statement.place(),
                      concat(statement.verdict, " of ", values, ": both lie above ", kCeiling));
  }
  if (question.chance.empty()) {
    const bool has_some = metric.key.find("accuracy") != metric.key.npos;
    if (has_some && most < kAnyFloor) {
      objections.cannot_check(one, statement.place(),
                              concat("the chance level of ", metric.key, " is unknown"));
    }
  } else if (const double floor = question.chance.back() + kAboveChance; most < floor) {
    objections.object(one, statement.place(),
                      concat(statement.verdict, " of ", values, ": both lie below chance + 0.1 (",
                             metric.text(floor), ")"));
  }
}

bool is_loss(const std::string& metric) {
  return metric.ends_with("loss") || metric.starts_with("loss_at_");
}

// The loss of the trigram counts in any run.
std::optional<double> trigram_loss(const Reference& one) {
  for (const Json& run : one.runs) {
    for (const auto& [key, value] : object_at(run, "metrics").items()) {
      if (key.find("trigram") != key.npos && value.is_number()) return value.get<double>();
    }
  }
  return std::nullopt;
}

}  // namespace

void check_regime(const Reference& one, Objections& objections) {
  const auto questions = questions_of(one);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& statement = one.statements[i];
    if (!statement.judges() || statement.verdict == "uninformative" || !questions[i].found)
      continue;
    if (questions[i].metric.outcome != Outcome::kShare) continue;
    check_share(one, statement, questions[i], objections);
  }
}

void check_language(const Reference& one, Objections& objections) {
  if (one.values("task.kind").count("text") == 0 || !one.is_trained()) return;
  const auto counts = trigram_loss(one);
  const auto questions = questions_of(one);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& statement = one.statements[i];
    const auto& found = questions[i].found;
    if (!statement.judges() || !is_loss(statement.metric) || !found) continue;
    if (!counts) {
      objections.cannot_check(one, statement.place(),
                              "no run has the loss of a trigram count model of the same text");
    } else if (std::max(found->ours, found->theirs) >= *counts) {
      objections.object(
          one, statement.place(),
          concat("a model is no better than trigram counts, ", report::format_number(*counts, 3)));
    }
  }
}

}  // namespace difflab::referee
