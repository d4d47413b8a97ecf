#include "report/settings/metric_rules.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "report/data/learned.h"
#include "report/data/metric.h"
#include "statistics/metric_facts.h"
#include "util/text.h"

namespace difflab::report {
namespace {

bool is_one_of(std::string_view name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& known) { return is_called(name, known); });
}

std::string problem(std::string_view name, std::string_view what, std::vector<std::string> names) {
  std::erase_if(names, [](const auto& one) { return one.ends_with("_chance"); });  // seldom meant
  return concat("is ", name, ", which is no ", what, suggestion(name, names));
}

// Metrics of the runs, and those that the report adds to them.
std::vector<std::string> all_metrics(const ReportConfig& report, const KnownNames& known) {
  auto metrics = known.metrics;
  for (const auto& derived : report.derived) {
    metrics.push_back(std::visit([](const auto& one) { return one.name; }, derived));
  }
  if (report.learned.given()) metrics.insert(metrics.end(), {kLearned, kStepsToLearn});
  return metrics;
}

class MetricRules {
 public:
  MetricRules(const KnownNames& known, const ReportConfig& report, std::vector<ReportProblem>& out)
      : known_(known), metrics_(all_metrics(report, known)), problems_(out) {}

  void must_be_metric(const std::string& key, const std::string& name) {
    if (name.empty() || is_one_of(name, metrics_)) return;
    problems_.push_back({key, problem(name, "metric of these runs", metrics_)});
  }
  void must_be_curve(const std::string& key, const std::string& name) {
    const auto what = name.empty() ? "" : problem_of_curve(name, known_.curves);
    if (!what.empty()) problems_.push_back({key, what});
  }
  /// A metric, an axis, or a path in the configuration.
  void must_be_known(const std::string& key, const std::string& name) {
    const auto& axes = known_.axes;
    if (name.empty() || is_one_of(name, metrics_) || known_.is_setting(name)) return;
    if (is_among(name, axes)) return;
    auto names = metrics_;
    names.insert(names.end(), axes.begin(), axes.end());
    problems_.push_back({key, problem(name, "metric of these runs and no key", names)});
  }

  /// An evaluation whose cells are drawn or made a metric of.
  void must_be_source(const std::string& place, const std::string& name) {
    if (name.empty() || is_one_of(name, known_.sources)) return;
    problems_.push_back(
        {place + ".source", problem(name, "evaluation of these runs", known_.sources)});
  }
  void must_fit(const std::string& place, const ClaimConfig& claim, const TimesConfig& times) {
    const auto outcome = metric_of(claim.metric).outcome();
    const bool is_ratio = outcome == Outcome::kTimeToEvent && times.compare == Compared::kRatios;
    const bool has_margin = claim.margin > 0 || (is_ratio && times.margin.value > 0);
    if (claim.expect == Expect::kEquivalent && !has_margin) {
      problems_.push_back(
          {place + ".expect", "is equivalent, and there is no margin to be within"});
    }
    if (outcome != Outcome::kShare && outcome != Outcome::kHappened && !is_ratio) return;
    for (const auto& [key, value] :
         {std::pair{".margin", claim.margin}, std::pair{".smallest", claim.smallest}}) {
      if (value < 1) continue;
      problems_.push_back(
          {place + key, concat("is ", value, ", and ", claim.metric,
                               is_ratio ? " is compared as a ratio; expected a share below 1"
                                        : " lies between 0 and 1; expected less than 1")});
    }
  }

  void check(const std::string& place, const LineConfig& line) {
    if (!line.source.empty()) return;
    if (line.x == "step") return must_be_curve(place + ".y", line.y);
    must_be_known(place + ".x", line.x);
    must_be_metric(place + ".y", line.y);
  }
  void check(const std::string& place, const IntervalConfig& interval) {
    if (interval.source.empty()) must_be_metric(place + ".x", interval.x);
  }
  void check(const std::string& place, const ScatterConfig& scatter) {
    if (!scatter.source.empty()) return;
    must_be_known(place + ".x", scatter.x);
    must_be_known(place + ".y", scatter.y);
  }
  void check(const std::string& place, const SurvivalConfig& survival) {
    must_be_metric(place + ".event", survival.event);
  }
  void check(const std::string& place, const HeatmapConfig& map) {
    must_be_metric(place + ".reached", map.reached);
  }
  template <class Figure>
  void check(const std::string&, const Figure&) {}  // draws cells alone

 private:
  const KnownNames& known_;
  std::vector<std::string> metrics_;
  std::vector<ReportProblem>& problems_;
};

}  // namespace

std::vector<ReportProblem> check_metrics(const ReportConfig& report, const KnownNames& known) {
  std::vector<ReportProblem> problems;
  MetricRules rules(known, report, problems);
  rules.must_be_metric("headline", report.headline);
  rules.must_be_curve("learned.metric", report.learned.metric);
  for (std::size_t i = 0; i < report.claims.size(); ++i) {
    const auto place = concat("claims[", i, "]");
    rules.must_be_metric(place + ".metric", report.claims[i].metric);
    rules.must_fit(place, report.claims[i], report.times);
  }
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    const auto& columns = report.tables[i].columns;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      rules.must_be_known(concat("tables[", i, "].columns[", j, "]"), columns[j]);
    }
  }
  for (std::size_t i = 0; i < report.figures.size(); ++i) {
    const auto place = concat("figures[", i, "]");
    std::visit(
        [&](const auto& figure) {
          rules.check(place, figure);
          rules.must_be_source(place, figure.source);
        },
        report.figures[i]);
  }
  for (std::size_t i = 0; i < report.derived.size(); ++i) {
    std::visit(
        [&](auto derived) {
          const auto place = concat("derived[", i, "]");
          rules.must_be_source(place, derived.source);
          EachKey each{"metric of result.json", [&](auto key, auto& name) {
                         rules.must_be_metric(concat(place, ".", key), name);
                       }};
          derived.visit_fields(each);
        },
        report.derived[i]);
  }
  return problems;
}

std::string problem_of_metric(std::string_view name, const ReportConfig& report,
                              const KnownNames& known) {
  const auto metrics = all_metrics(report, known);
  return is_one_of(name, metrics) ? "" : problem(name, "metric of these runs", metrics);
}

std::string problem_of_curve(std::string_view name, const std::vector<std::string>& curves) {
  if (is_one_of(name, curves)) return "";
  return problem(name, "held-out or training curve of these runs", curves);
}

}  // namespace difflab::report
