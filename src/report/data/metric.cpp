#include "report/data/metric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "report/data/format.h"
#include "statistics/share.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr MetricFacts fixed_metric(std::string_view name, std::string_view label = {},
                                   std::string_view unit = {}) {
  return {.name = name, .least = 0, .decimals = 0, .label = label, .unit = unit, .is_fixed = true};
}

constexpr MetricFacts time_metric(std::string_view name, Outcome outcome,
                                  std::optional<int> decimals, std::string_view label = {}) {
  return {name, outcome, Better::kLower, 0, decimals, label, "s", OfMachine::kTraining};
}

constexpr MetricFacts steps_metric(std::string_view name, std::string_view label = {}) {
  return {name, Outcome::kTimeToEvent, Better::kLower, 0, 0, label};
}

// Metrics of the training, keys of the configuration and of cells, and what the report adds.
constexpr std::array kOfEveryRun = {
    fixed_metric("parameters"),
    fixed_metric("steps"),
    fixed_metric("step", "training step"),
    fixed_metric("tokens", "training tokens"),
    fixed_metric("length", "context length", "tokens"),
    fixed_metric("depth", "needle depth", "%"),
    fixed_metric("needles"),
    fixed_metric("queries"),
    MetricFacts{.name = "lr", .least = 0, .label = "learning rate", .is_fixed = true},
    MetricFacts{.name = "published_*", .least = 0, .is_fixed = true},
    share_metric("share"),
    share_metric("accuracy", Better::kHigher),
    share_metric("*_accuracy", Better::kHigher),
    share_metric("valid_accuracy", Better::kHigher, "validation accuracy"),
    share_metric("*_accuracy_chance"),
    share_metric("all_correct", Better::kHigher, "all answers correct"),
    share_metric("map_area", Better::kHigher, "area under the map"),
    loss_metric("*_loss"),
    loss_metric("train_loss", "training loss"),
    loss_metric("valid_loss", "validation loss"),
    positive_metric("gradient_spikes"),
    positive_metric("grad_norm", 3, "gradient norm"),
    MetricFacts{"effective_length", Outcome::kMeasure, Better::kHigher, 0, 0, {}, "tokens"},
    MetricFacts{"learned", Outcome::kHappened, Better::kHigher, 0, 3},
    MetricFacts{"is_*", Outcome::kHappened, Better::kNeither, 0, 3},  // see BelowConfig
    steps_metric("steps_to_*"),
    steps_metric("steps_to_learn", "steps until learned"),
    steps_metric("steps_to_90_accuracy", "steps to 90 %"),
    time_metric("time_to_*_seconds", Outcome::kTimeToEvent, {}),
    time_metric("time_to_90_accuracy_seconds", Outcome::kTimeToEvent, 1, "time to 90 %"),
    time_metric("train_seconds", Outcome::kMeasure, 1, "training time"),
    speed_metric("tokens_per_second", "tokens/s", OfMachine::kTraining),
};

// "lambda" as a word of its own becomes λ; "lambda_init" keeps its underscore as a subscript.
std::string readable(std::string_view name) {
  static constexpr std::string_view kLambda = "lambda";
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    if (name.substr(at, kLambda.size()) == kLambda && is_word(name, at, kLambda.size())) {
      out += "λ";
      at += kLambda.size();
      if (name.substr(at, 5) == "_init") {
        out += "_init";
        at += 5;
      }
    } else {
      out += name[at] == '_' ? ' ' : name[at];
      ++at;
    }
  }
  return out;
}

std::vector<MetricFacts>& declared() {
  static std::vector<MetricFacts> facts;
  return facts;
}

// Makes `best` the fact that describes the key better: whose name spells out more of its beginning,
// else the longer one.
void improve(const MetricFacts*& best, std::span<const MetricFacts> all, std::string_view key) {
  const auto exactness = [](const MetricFacts& facts) {
    return std::pair(std::min(facts.name.find('*'), facts.name.size()), facts.name.size());
  };
  for (const auto& facts : all) {
    if (!is_called(key, facts.name)) continue;
    if (best == nullptr || exactness(facts) > exactness(*best)) best = &facts;
  }
}

// Finds the key, or what stands behind the name of an evaluation; null if nothing is declared.
const MetricFacts* facts_of(std::string_view key) {
  const MetricFacts* best = nullptr;
  improve(best, kOfEveryRun, key);
  improve(best, declared(), key);
  for (auto at = key.find('_'); best == nullptr && at != key.npos; at = key.find('_', at + 1)) {
    improve(best, declared(), key.substr(at + 1));
  }
  return best;
}

// "test_loss" of "test_loss_at_200", the answer at a step of the training, and of
// "test_loss_difference"; else the key.
std::string_view without_ending(std::string_view key) {
  if (key.ends_with(kDifferenceSuffix)) return key.substr(0, key.size() - kDifferenceSuffix.size());
  const auto last = key.find_last_not_of("0123456789");
  if (last == key.npos || last + 1 == key.size()) return key;
  const auto before = key.substr(0, last + 1);
  constexpr std::string_view kAt = "_at_";
  return before.ends_with(kAt) ? before.substr(0, before.size() - kAt.size()) : key;
}

}  // namespace

bool Metric::is_of_learned() const {
  const bool when = outcome == Outcome::kHappened || outcome == Outcome::kTimeToEvent;
  return !is_fixed && !is_initial && !is_measured() && !when;
}

double log_of_time(double time) { return time > 0 ? std::log(time) : 0; }

std::string Metric::text(double value) const {
  int places = 0;
  if (decimals) {
    places = *decimals;
  } else if (value != 0 && std::isfinite(value)) {
    if (is_fixed) return plain_number(value);
    places = std::clamp(3 - static_cast<int>(std::floor(std::log10(std::abs(value)))), 0, 8);
  }
  return format_number(value, places);
}

std::string Metric::signed_text(double value) const {
  const auto shown = text(value);
  const bool is_zero = shown.find_first_of("123456789") == shown.npos;  // as "−0" is none
  return (value > 0 && !is_zero ? "+" : "") + shown;
}

void declare_metrics(std::vector<MetricFacts> facts) { declared() = std::move(facts); }

Metric metric_of(std::string_view key) {
  const MetricFacts* facts = facts_of(key);
  if (facts == nullptr) facts = facts_of(without_ending(key));
  Metric metric{facts != nullptr ? *facts : MetricFacts{}, std::string(key), {}};
  const bool has_label = metric.name == key && !metric.label.empty();
  if (metric.unit == "s") key = key.substr(0, key.rfind("_seconds"));
  metric.heading = has_label ? std::string(metric.label) : readable(key);
  return metric;
}

std::optional<Interval> interval_of_mean(std::span<const double> values, const Metric& metric) {
  if (metric.outcome == Outcome::kShare) return mean_share_interval(values);
  if (metric.outcome == Outcome::kHappened) {
    return wilson_interval(std::ranges::count(values, 1.0),
                           static_cast<std::int64_t>(values.size()));
  }
  auto interval = t_interval(values);
  if (interval) interval->low = std::max(interval->low, std::min(metric.least, mean(values)));
  return interval;
}

std::optional<Interval> interval_of_difference(std::span<const double> differences,
                                               const Metric& metric) {
  return metric.is_share() ? share_difference_interval(differences) : t_interval(differences);
}

Labels::Labels(const TextMap& user, const std::vector<std::string>& keys) : user_(user) {
  std::map<std::string, std::set<std::string>> by_heading;
  for (const auto& key : keys) by_heading[heading(metric_of(key))].insert(key);
  for (const auto& [heading, same] : by_heading) {
    if (same.size() > 1) ambiguous_.insert(same.begin(), same.end());
  }
}

std::string Labels::value(std::string_view axis_value) const {
  if (const auto label = user_.find(axis_value)) return *label;
  return readable(axis_value);
}

std::string Labels::axis(std::string_view axis) const { return heading(metric_of(axis)); }

std::string Labels::heading(const Metric& metric) const {
  if (const auto label = user_.find(metric.key)) return *label;
  if (metric.key.find('.') == std::string::npos) return metric.heading;
  if (ambiguous_.count(metric.key) > 0) return readable(metric.key);
  // λ of layer 0 is "lambda.0", a path of the configuration "train.lr".
  if (metric.key.starts_with("lambda.")) return "λ, layer " + metric.key.substr(7);
  const Metric last = metric_of(metric.key.substr(metric.key.rfind('.') + 1));
  return last.heading;
}

std::string Labels::axis_title(const Metric& metric) const {
  const std::string name = heading(metric);
  return metric.unit.empty() ? name : concat(name, " (", metric.unit, ")");
}

}  // namespace difflab::report
