#include "report/data/derived.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "report/data/frame.h"
#include "report/data/metric.h"
#include "statistics/describe.h"
#include "statistics/equal_level.h"
#include "statistics/share.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// The score at one length, and what its answers say about chance.
struct Score {
  std::vector<double> values, chances;
  std::int64_t right = 0, answers = 0;

  void add(const Observation& cell, double value) {
    values.push_back(value);
    if (const auto chance = cell.measured("chance")) chances.push_back(*chance);
    right += static_cast<std::int64_t>(cell.measured("correct").value_or(0));
    answers += static_cast<std::int64_t>(cell.measured("n").value_or(0));
  }
  bool above_chance() const {
    const double chance = chances.empty() ? 0 : mean(chances);
    const auto interval = wilson_interval(right, answers);
    return interval && right > 0 ? interval->low > chance : mean(values) > chance;
  }
};

// Weights of the trapezoid rule over ascending places, with sum 1; one place has all of it.
std::vector<double> trapezoid(const std::vector<double>& places) {
  std::vector<double> weights(places.size(), places.size() == 1 ? 1.0 : 0.0);
  const double length = places.back() - places.front();
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    const double half = (places[i + 1] - places[i]) / (2 * length);
    weights[i] += half;
    weights[i + 1] += half;
  }
  return weights;
}

// Levels of `variant` along the axis of sizes, all else as in `run`; none if a run lacks a metric.
std::optional<Levels> levels_of(const EqualLevelConfig& config, const FrameRun& run,
                                const Frame& frame, const std::string& variant) {
  Levels levels;
  for (const FrameRun& other : frame.runs()) {
    if (!is_same_value(other.axis(config.variants), variant) ||
        !frame.are_partners(run, other, {config.along, config.variants})) {
      continue;
    }
    const auto x = other.metric(config.x), y = other.metric(config.value);
    if (!x || !y) return std::nullopt;
    levels[*x] = *y;
  }
  return levels;
}

}  // namespace

std::optional<double> EffectiveLengthConfig::of(const FrameRun& run, const Frame&) const {
  std::map<double, Score> scores;
  for (const Observation& cell : cells_of(run, source, where)) {
    const auto length = cell.measured(x);
    const auto score = cell.measured(value);
    if (length && score) scores[*length].add(cell, *score);
  }
  if (scores.empty()) return std::nullopt;
  if (!scores.begin()->second.above_chance()) return 0;
  const double base = mean(scores.begin()->second.values);
  double longest = scores.begin()->first;
  for (const auto& [length, score] : scores) {
    if (mean(score.values) >= share * base) longest = length;
  }
  return longest;
}

std::optional<double> MapAreaConfig::of(const FrameRun& run, const Frame&) const {
  std::map<double, std::map<double, std::vector<double>>> map;  // by x, then y
  std::set<double> all_y;
  for (const Observation& cell : cells_of(run, source, where)) {
    const auto at_x = cell.measured(x);
    const auto at_y = cell.measured(y);
    const auto score = cell.measured(value);
    if (!at_x || !at_y || !score || !(*at_x > 0)) continue;
    map[*at_x][*at_y].push_back(*score);
    all_y.insert(*at_y);
  }
  if (map.empty()) return std::nullopt;
  std::vector<double> xs;
  for (const auto& [at_x, column] : map) {
    if (column.size() != all_y.size()) return std::nullopt;
    xs.push_back(std::log(at_x));
  }
  const auto x_weights = trapezoid(xs);
  const auto y_weights = trapezoid({all_y.begin(), all_y.end()});
  double area = 0;
  std::size_t i = 0;
  for (const auto& [at_x, column] : map) {
    std::size_t j = 0;
    for (const auto& [at_y, scores] : column) area += x_weights[i] * y_weights[j++] * mean(scores);
    ++i;
  }
  return area;
}

void BelowConfig::validate(config::Check& check) const {
  if (!name.starts_with("is_")) {
    check.problem("name", concat("is '", name, "'; expected one that begins with is_, by which ",
                                 "reports know what is 1 or 0"));
  }
}

void PublishedConfig::validate(config::Check& check) const {
  if (!name.starts_with(kPublished)) {
    check.problem("name", concat("is '", name, "'; expected one that begins with ", kPublished,
                                 ", by which tables print it as the source does"));
  }
  for (const auto& [key, number] : numbers.entries) {
    if (!parse_number(number)) {
      check.problem(concat("numbers.", key), concat("is '", number, "'; expected a number"));
    }
  }
}

std::optional<double> PublishedConfig::of(const FrameRun& run, const Frame&) const {
  for (const auto& [axis, text] : run.plan.axes) {
    if (const auto number = numbers.find(text)) return parse_number(*number);
  }
  return std::nullopt;
}

std::optional<double> BelowConfig::of(const FrameRun& run, const Frame&) const {
  const auto number = run.metric(value);
  if (!number) return run.diverged_at ? std::optional(0.0) : std::nullopt;
  return *number < bound ? 1.0 : 0.0;
}

std::optional<double> EqualLevelConfig::of(const FrameRun& run, const Frame& frame) const {
  const auto own = levels_of(*this, run, frame, run.axis(variants));
  const auto base = levels_of(*this, run, frame, frame.baseline());
  if (!own || !base) return std::nullopt;
  return share_at_equal_level(*own, *base, metric_of(value).better == Better::kLower);
}

}  // namespace difflab::report
