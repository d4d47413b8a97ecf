#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "report/archive/reproduction.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "statistics/describe.h"
#include "statistics/distributions.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr std::size_t kFewestSeeds = 3;
constexpr double kConfidence = 0.999;
constexpr double kFloor = 0.01;  // of the mean: runs that all agree have no spread

// @param committed the metrics of the run, where claims and tables name none that can be judged
std::set<std::string> judged_metrics(const Study& study, const Json& committed) {
  const auto of_report = metrics_of_report(study);
  const auto is_judged = [&](const std::string& key) {
    return !key.empty() && is_compared(key, of_report);
  };
  std::set<std::string> metrics;
  for (const auto& claim : study.report.claims) metrics.insert(claim.metric);
  if (metrics.empty()) metrics.insert(study.report.headline);
  std::erase_if(metrics, [&](const auto& key) { return !key.empty() && !is_judged(key); });
  if (metrics.empty() || metrics.count("") > 0) {
    for (const auto& table : study.report.tables) {
      for (const auto& key : table.columns) {
        if (metric_of(key).better != Better::kNeither) metrics.insert(key);
      }
    }
  }
  std::erase_if(metrics, [&](const auto& key) { return !is_judged(key); });
  if (!metrics.empty()) return metrics;
  for (const auto& [key, value] : committed.items()) {  // of a study of speeds, say
    if (is_judged(key)) metrics.insert(key);
  }
  return metrics;
}

std::vector<double> values_of_cell(const Frame& frame, const FrameRun& run,
                                   const std::string& key) {
  const auto cell = without_seed(run.plan.axes);
  std::vector<double> values;
  for (const auto& other : frame.runs()) {
    if (other.state != RunState::kFinished || without_seed(other.plan.axes) != cell) continue;
    if (const auto value = other.reached(key)) values.push_back(*value);
  }
  return values;
}

double limit(double freedom, double variance) {
  return student_t_quantile((1 + kConfidence) / 2, freedom) * std::sqrt(variance);
}

// Distances of runs from the means of their cells, in standard deviations of these.
struct Distances {
  double sum = 0;
  std::map<Axes, std::pair<double, double>> cells = {};  // runs, seeds

  void add(const Axes& cell, double now, const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    const double center = mean(values);
    const double least = kFloor * std::abs(center) / limit(n - 1, 1 + 1 / n);
    if (now != center) sum += (now - center) / std::max(*sample_sd(values), least);
    cells[cell] = {cells[cell].first + 1, n};
  }
  // Empty if chance makes it as large.
  std::string outside(const std::string& key) const {
    double runs = 0, variance = 0, freedom = 0;
    for (const auto& [cell, counts] : cells) {
      const auto [k, n] = counts;
      runs += k;
      variance += k + k * k / n;
      freedom += n - 1;
    }
    if (runs == 0) return "";
    const double average = sum / runs, most = limit(freedom, variance) / runs;
    if (std::abs(average) <= most) return "";
    return concat(key, " lies ", format_number(std::abs(average), 1), " standard deviations ",
                  average > 0 ? "above" : "below", " other seeds (chance: up to ",
                  format_number(most, 1), ")");
  }
};

}  // namespace

Elsewhere judge_elsewhere(const Study& study, const Frame& frame,
                          const std::vector<MadeAgain>& runs) {
  Elsewhere found;
  std::map<std::string, Distances> by_metric;
  for (const auto& again : runs) {
    const auto run = std::ranges::find_if(
        frame.runs(), [&](const FrameRun& one) { return one.plan.id == again.id; });
    if (run == frame.runs().end()) continue;
    for (const auto& key : judged_metrics(study, object_at(run->result, "metrics"))) {
      auto now = number_at(again.result, concat("metrics.", key));
      if (!now) now = number_at(again.result, concat("censored.", key));
      const auto values = values_of_cell(frame, *run, key);
      if (!run->reached(key) || values.size() < kFewestSeeds) continue;
      auto& distances = by_metric[key];
      if (now) distances.add(without_seed(run->plan.axes), *now, values);
      if (!now) found.outside.push_back(concat(key, " is missing"));
    }
  }
  for (const auto& [key, distances] : by_metric) {
    ++found.judged;
    if (auto far = distances.outside(key); !far.empty()) found.outside.push_back(std::move(far));
  }
  return found;
}

}  // namespace difflab::report
