#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "report/archive/reproduction.h"
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
  if (!metrics.empty() || !committed.is_object()) return metrics;
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

}  // namespace

Elsewhere judge_elsewhere(const Study& study, const Frame& frame, const std::string& id,
                          const Json& result) {
  Elsewhere found;
  const auto run = std::find_if(frame.runs().begin(), frame.runs().end(),
                                [&](const FrameRun& one) { return one.plan.id == id; });
  if (run == frame.runs().end()) return found;
  const auto own = run->result.find("metrics");
  for (const auto& key : judged_metrics(study, own == run->result.end() ? Json() : *own)) {
    auto now = number_at(result, concat("metrics.", key));
    if (!now) now = number_at(result, concat("censored.", key));
    const auto values = values_of_cell(frame, *run, key);
    if (!run->reached(key) || values.size() < kFewestSeeds) continue;
    ++found.judged;
    if (!now) {
      found.outside.push_back(concat(key, " is missing"));
      continue;
    }
    const auto n = static_cast<double>(values.size());
    const double center = mean(values);
    const double t = student_t_quantile((1 + kConfidence) / 2, n - 1);
    const double width =
        std::max(t * *sample_sd(values) * std::sqrt(1 + 1 / n), kFloor * std::abs(center));
    if (std::abs(*now - center) <= width) continue;
    const auto metric = metric_of(key);
    found.outside.push_back(concat(key, " is ", metric.text(*now), "; other seeds say ",
                                   metric.text(center - width), " to ",
                                   metric.text(center + width)));
  }
  return found;
}

}  // namespace difflab::report
