#include <algorithm>
#include <utility>
#include <variant>

#include "report/data/learned.h"
#include "report/data/metric.h"
#include "report/settings/report_config.h"
#include "statistics/metric_facts.h"
#include "util/text.h"

namespace difflab::report {
namespace {

bool is_one_of(std::string_view name, const std::vector<std::string>& names) {
  return std::ranges::any_of(names,
                             [&](const std::string& known) { return is_called(name, known); });
}

std::string problem(std::string_view name, std::string_view what, std::vector<std::string> names) {
  std::erase_if(names, [](const auto& one) { return one.ends_with("_chance"); });  // seldom meant
  return concat("is ", name, ", which names no ", what, suggestion(name, names));
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

class MetricRules : public FigureRules {
 public:
  MetricRules(const KnownNames& known, const ReportConfig& report, std::vector<ReportProblem>& out)
      : known_(known), metrics_(all_metrics(report, known)), problems_(out) {}

  /// Keys of what is checked next stand below this one, e.g. "figures[0]."; empty for the report.
  void stand_at(std::string place) { place_ = std::move(place); }

  void must_be_metric(std::string_view key, const std::string& name) override {
    if (name.empty() || is_one_of(name, metrics_)) return;
    object(key, problem(name, "metric of these runs", metrics_));
  }
  void must_be_curve(std::string_view key, const std::string& name) override {
    const auto what = name.empty() ? "" : problem_of_curve(name, known_.curves);
    if (!what.empty()) object(key, what);
  }
  void must_be_known(std::string_view key, const std::string& name) override {
    const auto& axes = known_.axes;
    if (name.empty() || is_one_of(name, metrics_) || known_.is_setting(name)) return;
    if (is_among(name, axes)) return;
    auto names = metrics_;
    names.insert(names.end(), axes.begin(), axes.end());
    object(key, problem(name, "metric of these runs and no key", names));
  }

  /// An evaluation whose cells are drawn or made a metric of.
  void must_be_source(const std::string& name) {
    if (name.empty() || is_one_of(name, known_.sources)) return;
    object("source", problem(name, "evaluation of these runs", known_.sources));
  }
  void must_fit(const ClaimConfig& claim, const TimesConfig& times) {
    const auto metric = metric_of(claim.metric);
    const bool is_ratio =
        metric.outcome == Outcome::kTimeToEvent && times.compare == Compared::kRatios;
    const bool has_margin = claim.margin > 0 || (is_ratio && times.margin.value > 0);
    if (claim.expect == Expect::kEquivalent && !has_margin) {
      object("expect", "is equivalent, and there is no margin to be within");
    }
    if (!metric.is_share() && !is_ratio) return;
    for (const auto& [key, value] :
         {std::pair{"margin", claim.margin}, std::pair{"smallest", claim.smallest}}) {
      if (value < 1) continue;
      object(key, concat("is ", value, ", and ", claim.metric,
                         is_ratio ? " is compared as a ratio; expected a share below 1"
                                  : " lies between 0 and 1; expected less than 1"));
    }
  }

 private:
  void object(std::string_view key, std::string message) {
    problems_.push_back({concat(place_, key), std::move(message)});
  }

  const KnownNames& known_;
  std::vector<std::string> metrics_;
  std::string place_;
  std::vector<ReportProblem>& problems_;
};

}  // namespace

std::vector<ReportProblem> check_metrics(const ReportConfig& report, const KnownNames& known) {
  std::vector<ReportProblem> problems;
  MetricRules rules(known, report, problems);
  rules.must_be_metric("headline", report.headline);
  rules.must_be_curve("learned.metric", report.learned.metric);
  for (std::size_t i = 0; i < report.claims.size(); ++i) {
    rules.stand_at(concat("claims[", i, "]."));
    rules.must_be_metric("metric", report.claims[i].metric);
    rules.must_fit(report.claims[i], report.times);
  }
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    rules.stand_at(concat("tables[", i, "]."));
    const auto& columns = report.tables[i].columns;
    for (std::size_t j = 0; j < columns.size(); ++j) {
      rules.must_be_known(concat("columns[", j, "]"), columns[j]);
    }
  }
  for (std::size_t i = 0; i < report.figures.size(); ++i) {
    rules.stand_at(concat("figures[", i, "]."));
    std::visit([&](const auto& figure) { figure.check_names(rules); }, report.figures[i]);
    rules.must_be_source(common_of(report.figures[i]).source);
  }
  EachKey each{"metric of result.json",
               [&](auto key, auto& name) { rules.must_be_metric(key, name); }};
  for (std::size_t i = 0; i < report.derived.size(); ++i) {
    rules.stand_at(concat("derived[", i, "]."));
    std::visit(
        [&](auto derived) {
          rules.must_be_source(derived.source);
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
