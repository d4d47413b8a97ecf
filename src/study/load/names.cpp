#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/cost.h"
#include "report/data/frame.h"
#include "report/settings/report_config.h"
#include "run/metrics.h"
#include "run/run_config.h"
#include "study/load/load.h"
#include "util/text.h"

namespace difflab::study {
namespace {

using report::ReportProblem;

void add_all(std::vector<std::string>& all, const std::vector<std::string>& names) {
  for (const auto& name : names) report::add_new(all, name);
}

class Names {
 public:
  explicit Names(const Study& study) : study_(study) {
    for (const auto& [axis, value] : study.points.front().axes) axes_.push_back(axis);
    compared_ = report::compared_axis(study.config.report, axes_);
    for (const auto& [id, run] : study.configs) {
      add_all(known_.metrics, metrics_of(*run));
      add_all(of_training_, training_metrics_of(*run));
      add_all(known_.curves, curves_of(*run));
      add_all(known_.sources, evaluations_of(*run));
    }
    known_.axes = axes_;
    known_.is_setting = [this](std::string_view path) { return is_setting(path); };
  }

  std::vector<ReportProblem> problems() {
    const auto& baseline = study_.config.baseline;
    if (!baseline.empty() && !compared_.empty()) require_value("baseline", compared_, baseline);
    const auto& claims = study_.config.report.claims;
    for (std::size_t i = 0; i < claims.size(); ++i) check(concat("claims[", i, "]"), claims[i]);
    const auto& figures = study_.config.report.figures;
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const auto place = concat("figures[", i, "]");
      std::visit([&](const auto& figure) { check(place, figure); }, figures[i]);
    }
    check_curves();
    const auto of_report = report::check_metrics(study_.config.report, known_);
    problems_.insert(problems_.end(), of_report.begin(), of_report.end());
    return problems_;
  }

 private:
  bool is_setting(std::string_view path) const {
    return std::any_of(study_.points.begin(), study_.points.end(), [&](const auto& point) {
      return report::at_path(point.config, path) != nullptr;
    });
  }

  // Another axis than the compared one that has this value; empty if there is none.
  std::string axis_with(const std::string& value) const {
    for (const auto& axis : axes_) {
      if (axis != compared_ && is_among(value, study_.values_of(axis))) return axis;
    }
    return "";
  }

  // Says whether the axis has the value.
  bool require_value(const std::string& key, const std::string& axis, const std::string& value) {
    const auto values = study_.values_of(axis);
    const auto is_it = [&](const auto& other) { return report::is_same_value(value, other); };
    if (std::any_of(values.begin(), values.end(), is_it)) return true;
    const auto other = axis_with(value);
    problems_.push_back(
        {key, concat("is ", value, ", which is not a value of ", axis,
                     other.empty() ? suggestion(value, values)
                                   : concat(", but of ", other, "; claims compare values of the ",
                                            "first axis in rows of the first table: expected ",
                                            other, " there"))});
    return false;
  }

  void check(const std::string& place, const report::ClaimConfig& claim) {
    bool are_there = true;
    const auto require = [&](const std::string& key, const auto& axis, const auto& value) {
      are_there = require_value(place + key, axis, value) && are_there;
    };
    for (const auto& [axis, value] : claim.where.entries) {
      const bool is_axis = is_among(axis, axes_);
      if (is_axis) require(".where", axis, value);  // else that is told of the report's axes
      are_there = are_there && is_axis;
    }
    const auto others =
        report::others_of(claim, study_.config.baseline, study_.config.report.opponents);
    if (!compared_.empty()) require(".variant", compared_, claim.variant);
    for (const auto& other : others) {
      // The baseline has been looked at.
      if (!compared_.empty() && !claim.against.empty()) require(".against", compared_, other);
      if (!report::is_same_value(claim.variant, other)) continue;
      problems_.push_back(
          {place + ".variant", concat("is ", claim.variant, ", as what it is compared ",
                                      "with; expected another value")});
    }
    if (!are_there || compared_.empty()) return;
    check_runs(place, claim, claim.variant);
    for (const auto& other : others) check_runs(place, claim, other);
  }

  // Values of axes that a figure names must be there.
  struct ValueRules : report::FigureRules {
    ValueRules(Names& all, std::string where) : names(all), place(std::move(where)) {}

    void must_be_value(std::string_view key, const std::string& axis,
                       const std::string& value) override {
      if (value.empty() || !is_among(axis, names.axes_)) return;
      names.require_value(concat(place, ".", key), axis, value);
    }

    Names& names;
    std::string place;
  };

  // A figure whose `where` no row meets would be an empty one, after all the training.
  template <class Figure>
  void check(const std::string& place, const Figure& figure) {
    const auto is_axis = [&](const std::string& name) { return is_among(name, axes_); };
    for (const auto& [key, value] : figure.where.entries) {
      if (is_axis(key)) {
        require_value(place + ".where", key, value);
      } else if (figure.source.empty() && !is_setting(key) &&
                 !report::problem_of_metric(key, study_.config.report, known_).empty()) {
        problems_.push_back({place + ".where", concat("names '", key, "', which the sweep does ",
                                                      "not vary", suggestion(key, axes_))});
      }
    }
    ValueRules rules(*this, place);
    figure.check_names(rules);
  }

  // Checks that a variant has runs where the claim asks, and that they measure its metric.
  void check_runs(const std::string& place, const report::ClaimConfig& claim,
                  const std::string& variant) {
    report::KnownNames own;
    bool has_runs = false;
    for (const auto& point : study_.points) {
      const auto has = [&](const auto& axis, const auto& value) {
        return report::is_same_value(report::value_of_axis(point.axes, axis), value);
      };
      const auto& fixed = claim.where.entries;
      if (!has(compared_, variant) ||
          !std::all_of(fixed.begin(), fixed.end(),
                       [&](const auto& entry) { return has(entry.first, entry.second); })) {
        continue;
      }
      has_runs = true;
      add_all(own.metrics, metrics_of(study_.config_of(point)));
    }
    if (!has_runs) {
      problems_.push_back(
          {place, concat("asks for ", compared_, "=", variant, " where the sweep has no run of ",
                         "it; expected variants of which the sweep has runs with this where")});
      return;
    }
    const auto& report = study_.config.report;
    const auto problem = report::problem_of_metric(claim.metric, report, own);
    if (problem.empty() || !report::problem_of_metric(claim.metric, report, known_).empty()) return;
    problems_.push_back({place + ".metric",
                         concat(problem, " (of ", compared_, "=", variant, " with this where)")});
  }

  void check_events(const RunConfig& run, const std::string& where, std::set<std::string>& seen) {
    const auto& events = run.train.events;
    auto curves = held_out_metrics_of(run);
    curves.emplace_back(TrainEvent::kTrainLoss);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto key = concat(where, "train.events[", i, "].metric");
      const auto problem = report::problem_of_curve(events[i].metric, curves);
      if (!problem.empty() && seen.insert(key).second) problems_.push_back({key, problem});
    }
  }

  void check_curves() {
    std::set<std::string> seen;
    for (const auto& [id, run] : study_.configs) {
      check_events(*run, "", seen);
      for (auto earlier = earlier_run(*run); earlier; earlier = earlier_run(*earlier)) {
        check_events(*earlier, concat("stages[", earlier->stages.size(), "]."), seen);
      }
    }
    const auto& tune = study_.config.tune;
    if (tune.active()) {
      auto trained = known_;
      trained.metrics = of_training_;
      const auto problem = report::problem_of_metric(tune.metric, study_.config.report, trained);
      if (!problem.empty()) problems_.push_back({"tune.metric", problem});
    }
  }

  const Study& study_;
  std::vector<std::string> axes_;
  std::string compared_;
  std::vector<std::string> of_training_;
  report::KnownNames known_;
  std::vector<ReportProblem> problems_;
};

// "layers.3.attn.q_proj.weight" as "layers.*.attn.q_proj.weight": one name for all layers.
std::string in_any_layer(const std::string& name) {
  const std::string_view before = "layers.";
  if (!name.starts_with(before)) return name;
  return concat(before, '*', name.substr(name.find('.', before.size())));
}

// Patterns, and the names that they could have matched; nothing once they have matched one.
using Pattern = std::pair<std::string, ParameterShapes>;
using Missing = std::map<Pattern, std::optional<std::set<std::string>>>;

void look_for_parameters(const RunConfig& run, Missing& missing) {
  if (run.train.groups.empty()) return;
  const auto parameters = parameter_shapes(run.model, /*vocab_size=*/1);
  for (const auto& group : run.train.groups) {
    const auto [place, is_new] =
        missing.try_emplace(Pattern(group.match, group.shapes), std::in_place);
    if (!place->second) continue;
    for (const auto& parameter : parameters) place->second->insert(in_any_layer(parameter.name));
    if (std::any_of(parameters.begin(), parameters.end(), [&](const auto& parameter) {
          return group.matches(parameter.name, parameter.shape.size());
        })) {
      place->second.reset();
    }
  }
}

}  // namespace

std::vector<ReportProblem> check_names(const Study& study) {
  if (study.points.empty()) return {};
  return Names(study).problems();
}

void check_parameter_groups(const std::vector<const RunConfig*>& runs, config::Problems& problems) {
  Missing missing;
  for (const auto* run : runs) {
    look_for_parameters(*run, missing);
    for (auto earlier = earlier_run(*run); earlier; earlier = earlier_run(*earlier)) {
      look_for_parameters(*earlier, missing);
    }
  }
  for (const auto& [pattern, names] : missing) {
    if (!names) continue;
    const auto& [match, shapes] = pattern;
    problems.add(
        {}, "train.groups",
        concat("train.groups: match ", match,
               shapes == ParameterShapes::kAny ? "" : " with its shapes", " matches no parameter",
               suggestion(match, {names->begin(), names->end()})));
  }
}

}  // namespace difflab::study
