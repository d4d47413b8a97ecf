#include "report/data/metric.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/data/format.h"
#include "statistics/share.h"

namespace difflab::report {
namespace {

constexpr std::string_view kIs = "is_";  // 1 or 0, see BelowConfig

const std::vector<Metric>& known_metrics() {
  constexpr auto kUp = Better::kHigher;
  constexpr auto kDown = Better::kLower;
  constexpr auto kNone = Better::kNeither;
  static const std::vector<Metric> metrics = {
      {"parameters", "parameters", "", kNone, 0, false, true},
      {"steps", "steps", "", kNone, 0, false, true},
      {"step", "training step", "", kNone, 0, false, true},
      {"tokens", "training tokens", "", kNone, 0, false, true},
      {"needle_accuracy", "needle accuracy", "", kUp, 3, true, false},
      {"valid_accuracy", "validation accuracy", "", kUp, 3, true, false},
      {"accuracy", "accuracy", "", kUp, 3, true, false},
      {"share", "share", "", kNone, 3, true, false},
      {"all_correct", "all answers correct", "", kUp, 3, true, false},
      {"valid_loss", "validation loss", "", kDown, 4, false, false},
      {"test_loss", "test loss", "", kDown, 4, false, false},
      {"train_loss", "training loss", "", kDown, 4, false, false},
      {"ar_hit_loss", "AR-Hit loss", "", kDown, 4, false, false},
      {"others_loss", "other tokens' loss", "", kDown, 4, false, false},
      {"bigram_loss", "loss of bigram counts", "", kNone, 4, false, false},
      {"trigram_loss", "loss of trigram counts", "", kNone, 4, false, false},
      {"loss_below_trigrams", "loss below trigram counts", "", kUp, 4, false, false},
      {"steps_to_90_accuracy", "steps to 90 %", "", kDown, 0, false, false},
      {"time_to_90_accuracy_seconds", "time to 90 %", "s", kDown, 1, false, false},
      {"learned", "learned", "", kUp, 3, true, false},
      {"steps_to_learn", "steps until learned", "", kDown, 0, false, false},
      {"train_seconds", "training time", "s", kDown, 1, false, false},
      {"tokens_per_second", "tokens/s", "", kUp, 0, false, false},
      {"grad_norm", "gradient norm", "", kNone, 3, false, false},
      {"lr", "learning rate", "", kNone, std::nullopt, false, true},
      {"sink_first_map", "sink in the first map", "", kNone, 3, true, false},
      {"sink_second_map", "sink in the second map", "", kNone, 3, true, false},
      {"sink_weights", "sink in |weights|", "", kNone, 3, true, false},
      {"sink_relative_weights", "sink in |weights|, by row", "", kNone, 3, true, false},
      {"map_distance", "1 \u2212 cosine of heads' maps", "", kNone, 3, false, false},
      {"output_cka", "CKA of heads' outputs", "", kNone, 3, true, false},
      {"attention_entropy", "entropy of attention", "nats", kNone, 3, false, false},
      {"weights_needed", "weights needed", "", kDown, 3, true, false},
      {"effective_length", "effective length", "tokens", kUp, 0, false, false},
      {"map_area", "area under the map", "", kUp, 3, true, false},
      {"length", "context length", "tokens", kNone, 0, false, true},
      {"depth", "needle depth", "%", kNone, 0, false, true},
      {"needles", "needles", "", kNone, 0, false, true},
      {"queries", "queries", "", kNone, 0, false, true},
  };
  return metrics;
}

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

// The longest name that fits the key, or what stands behind the name of an evaluation.
const MetricFacts* declared_as(std::string_view key) {
  const MetricFacts* best = nullptr;
  for (auto rest = key; !rest.empty();) {
    for (const auto& one : declared()) {
      const bool longer = best == nullptr || one.name.size() > best->name.size();
      if (longer && is_called(rest, one.name)) best = &one;
    }
    if (best != nullptr) return best;
    const auto next = rest.find('_');
    rest = next == rest.npos ? std::string_view() : rest.substr(next + 1);
  }
  return nullptr;
}

// "test_loss" of "test_loss_at_200", the answer at a step of the training; else the key.
std::string_view without_step(std::string_view key) {
  const auto last = key.find_last_not_of("0123456789");
  if (last == key.npos || last + 1 == key.size()) return key;
  const auto before = key.substr(0, last + 1);
  constexpr std::string_view kAt = "_at_";
  return before.ends_with(kAt) ? before.substr(0, before.size() - kAt.size()) : key;
}

// The metric that a name suggests; all there is for an undeclared key, such as one of a cell.
Metric by_its_name(std::string_view key) {
  // "accuracy_4_bits" is an accuracy, "accuracy_chance" is none.
  const bool is_accuracy = key.find("accuracy") != key.npos && !key.ends_with("_chance") &&
                           !key.starts_with("steps_to_");
  Metric unknown;
  unknown.key = key;
  unknown.heading = readable(key);
  unknown.least = 0;
  if (key.starts_with(kPublished)) {
    unknown.is_fixed = true;
  } else if (key.starts_with(kIs)) {
    unknown.is_share = true;
    unknown.decimals = 3;
  } else if (key.starts_with("steps_to_")) {
    unknown.decimals = 0;
    unknown.better = Better::kLower;
  } else if (key.ends_with("_seconds")) {
    unknown.heading = readable(key.substr(0, key.size() - 8));
    unknown.unit = "s";
    unknown.better = Better::kLower;
  } else if (is_accuracy || key.ends_with("_share")) {
    unknown.is_share = true;
    unknown.decimals = 3;
    unknown.better = is_accuracy ? Better::kHigher : Better::kNeither;
  } else if (without_step(key).ends_with("_loss") || key.starts_with("loss_at_")) {
    unknown.decimals = 4;
    unknown.better = Better::kLower;
  } else if (key.find("tokens_per_second") != key.npos) {
    unknown.decimals = 0;
    unknown.better = Better::kHigher;
  } else if (key.find("memory_mib") != key.npos || key.starts_with("cache_mib")) {
    unknown.better = Better::kLower;
  } else if (!key.ends_with("_spikes")) {  // counts
    unknown.least = -std::numeric_limits<double>::infinity();
  }
  return unknown;
}

}  // namespace

Outcome Metric::outcome() const {
  const std::string_view name = key;
  if (name == "learned" || name.starts_with(kIs)) return Outcome::kHappened;
  if (name.starts_with("steps_to_") || name.starts_with("time_to_")) return Outcome::kTimeToEvent;
  return is_share ? Outcome::kShare : Outcome::kMeasure;
}

bool Metric::is_of_learned() const {
  const bool when = outcome() == Outcome::kHappened || outcome() == Outcome::kTimeToEvent;
  const bool at_start = key.starts_with("initial_") || key.ends_with("_initial");
  return !is_fixed && !is_measured() && !key.starts_with("cache_mib") && !when && !at_start;
}

double log_of_time(double time) { return time > 0 ? std::log(time) : 0; }

bool Metric::is_time() const {
  const std::string_view name = key;
  return name.ends_with("_seconds") || name.ends_with("_per_second");
}

bool Metric::is_of_machine() const {  // forward_tokens_per_second_t256 is no share and no time
  return is_time() || key.find("per_second") != key.npos;
}

bool Metric::is_measured() const { return is_of_machine() || key.find("memory_mib") != key.npos; }

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
  for (const Metric& known : known_metrics()) {
    if (known.key != key) continue;
    auto metric = known;
    const MetricFacts* facts = declared_as(key);  // which may be negative, such as an excess
    metric.least = facts != nullptr && facts->name == key ? facts->least : 0;
    return metric;
  }
  Metric metric = by_its_name(key);
  // When something was learned and what a source gives are no metrics of an evaluation, whatever
  // they end in.
  if (metric.outcome() == Outcome::kTimeToEvent || key.starts_with(kPublished)) return metric;
  const MetricFacts* facts = declared_as(key);
  if (facts == nullptr) facts = declared_as(without_step(key));
  if (facts != nullptr) {
    metric.is_share = facts->outcome == Outcome::kShare;
    metric.better = facts->better;
    metric.least = facts->least;
    if (metric.is_share) metric.decimals = 3;
  }
  return metric;
}

std::optional<Interval> interval_of_mean(std::span<const double> values, const Metric& metric) {
  switch (metric.outcome()) {
    case Outcome::kShare:
      return mean_share_interval(values);
    case Outcome::kHappened:
      return wilson_interval(std::count(values.begin(), values.end(), 1.0),
                             static_cast<std::int64_t>(values.size()));
    default:
      break;
  }
  auto interval = t_interval(values);
  if (interval) interval->low = std::max(interval->low, std::min(metric.least, mean(values)));
  return interval;
}

std::optional<Interval> interval_of_difference(std::span<const double> differences,
                                               const Metric& metric, double level) {
  const bool of_shares =
      metric.outcome() == Outcome::kShare || metric.outcome() == Outcome::kHappened;
  return of_shares ? share_difference_interval(differences, level) : t_interval(differences, level);
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
  return metric.unit.empty() ? name : name + " (" + metric.unit + ")";
}

}  // namespace difflab::report
