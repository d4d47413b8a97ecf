// A metric at its ceiling or floor, or a language model no better than a table of counts, cannot
// tell two variants apart.
#include <algorithm>

#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr double kCeiling = 0.97;
constexpr double kAboveChance = 0.1;
constexpr double kAnyFloor = 0.6;  // of two answers chance is right in half

std::string claim_text(const Statement& statement) {
  return concat("claim \"", statement.claim, "\"");
}

void check_share(const Reference& one, const Statement& statement, const std::string& metric,
                 Objections& objections) {
  const auto [least, most] = std::minmax(*statement.ours, *statement.theirs);
  const auto shown = report::metric_of(metric);
  const auto values =
      concat(shown.text(*statement.ours), " against ", shown.text(*statement.theirs));
  if (least > kCeiling) {
    objections.object(one, claim_text(statement),
                      concat(statement.verdict, " of ", values, ": both lie above ", kCeiling));
  }
  const auto chance = one.chance_of(statement, metric);
  if (!chance) {
    const bool has_some = metric.find("accuracy") != metric.npos;
    if (has_some && most < kAnyFloor) {
      objections.cannot_check(one, claim_text(statement),
                              concat("the chance level of ", metric, " is not told"));
    }
  } else if (const double floor = *chance + kAboveChance; most < floor) {
    objections.object(one, claim_text(statement),
                      concat(statement.verdict, " of ", values, ": both lie below chance + 0.1 (",
                             shown.text(floor), ")"));
  }
}

bool is_loss(const std::string& metric) {
  return metric.ends_with("loss") || metric.starts_with("loss_at_");
}

// The loss of the trigram counts in any run.
std::optional<double> trigram_loss(const Reference& one) {
  for (const Json& run : one.runs) {
    const auto metrics = run.find("metrics");
    if (metrics == run.end()) continue;
    for (const auto& [key, value] : metrics->items()) {
      if (key.find("trigram") != key.npos && value.is_number()) return value.get<double>();
    }
  }
  return std::nullopt;
}

}  // namespace

void check_regime(const Reference& one, Objections& objections) {
  for (const auto& statement : one.statements) {
    if (!statement.judges() || statement.verdict == "uninformative") continue;
    const auto metric = one.metric_of(statement);
    if (metric.empty() || !statement.ours || !statement.theirs) {
      objections.cannot_check(one, claim_text(statement), "the metric or its values are not told");
    } else if (report::metric_of(metric).outcome() == Outcome::kShare) {
      check_share(one, statement, metric, objections);
    }
  }
}

void check_language(const Reference& one, Objections& objections) {
  if (one.values("task.kind").count("text") == 0 || !one.is_trained()) return;
  const auto counts = trigram_loss(one);
  for (const auto& statement : one.statements) {
    const auto metric = one.metric_of(statement);
    if (!statement.judges() || !is_loss(metric)) continue;
    if (!counts) {
      objections.cannot_check(one, claim_text(statement),
                              "no run has the loss of a trigram count model of the same text");
    } else if (std::max(statement.ours.value_or(0), statement.theirs.value_or(0)) >= *counts) {
      objections.object(
          one, claim_text(statement),
          concat("a model is no better than trigram counts, ", report::format_number(*counts, 3)));
    }
  }
}

}  // namespace difflab::referee
