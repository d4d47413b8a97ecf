#pragma once

#include "report/figure/figure.h"
#include "report/mark/line.h"

namespace difflab::report {

/// When something happened to the runs of each value of `color`: the share of them that have got
/// there by each step (one minus the Kaplan–Meier estimate, in which a run that ended before it got
/// there counts until then), with the numbers of runs that are still on their way below.
struct SurvivalConfig : FigureCommon {
  static constexpr std::string_view kKind = "survival";
  static constexpr std::string_view kAbout =
      "share of runs that have got somewhere by each step (Kaplan–Meier), with numbers at risk";

  std::string event;
  std::string color;  ///< axis; one curve per value
  Band band = Band::kNone;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("event", event, "metric that says when, e.g. steps_to_learn", config::given());
    visit("color", color, "axis with one curve per value", config::given());
    visit("band", band, "ci95 (pointwise, log-log) or none");
  }
  void check_names(FigureRules& rules) const {
    rules.must_be_axis("color", color);
    rules.must_be_metric("event", event);
  }

  /// CSV: a row per step of each curve: time, at_risk just before, events, share from there on with
  /// its 95 % interval; and of the curve the median with its interval (Brookmeyer & Crowley), the
  /// mean up to the longest time that all curves are known for with its standard error, and the
  /// log-rank p beside the baseline's curve, adjusted for the number of curves (Holm).
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report
