#pragma once

#include "report/figure/figure.h"

namespace difflab::report {

/// Scale of the horizontal axis.
enum class LineScale { kLinear, kLog, kCategory };

enum class Band {
  kCi95,  ///< Student-t 95 % interval over runs, where there are at least two
  kNone
};

/// Means over runs as lines, one per value of `color`, with interval bands: learning curves
/// (x: step, from metrics.jsonl), or anything against an axis, a metric or a key of the cells. With
/// `against` the lines are differences to that value of `color` on equal seeds, and the bands their
/// intervals: runs of a seed share what that seed makes easy or hard.
struct LineConfig : FigureCommon {
  static constexpr std::string_view kKind = "line";
  static constexpr std::string_view kAbout =
      "means over runs as lines with interval bands, against steps, an axis or a metric";

  std::string x = "step";
  std::string y;
  std::string color;    ///< axis; one line per value
  std::string facet;    ///< axis; one panel per value
  std::string against;  ///< value of color; empty: no difference
  Band band = Band::kCi95;
  LineScale x_scale = LineScale::kLinear;
  AxisScale y_scale = AxisScale::kLinear;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("x", x, "step (reads metrics.jsonl), an axis, a metric or a key of the cells",
          config::given());
    visit("y", y, "metric on the vertical axis", config::given());
    visit("color", color, "axis with one line per value");
    visit("facet", facet, "axis with one panel per value");
    visit("against", against, "value of color: lines show the difference to it on equal seeds");
    visit("band", band, "ci95 or none");
    visit("x_scale", x_scale,
          "linear, log, or category: labelled values side by side, in the order of the cells");
    visit("y_scale", y_scale, "linear or log");
  }
  void validate(config::Check& check) const {
    if (!against.empty() && color.empty()) {
      check.problem("against", "is given without color; expected the axis whose value it is");
    }
    check_linear("y_scale", y_scale, against, check);
  }
  void check_names(FigureRules& rules) const {
    rules.must_vary("color", color, *this);
    rules.must_vary("facet", facet, *this);
    rules.may_be_axis(x);
    rules.must_be_value("against", color, against);
    if (!source.empty()) return;
    if (x == "step") return rules.must_be_curve("y", y);
    rules.must_be_known("x", x);
    rules.must_be_metric("y", y);
  }

  /// The rows of this figure and its Vega-Lite specification.
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report

template <>
inline constexpr auto difflab::config::kNames<difflab::report::LineScale> = names("linear", "log",
                                                                                  "category");

template <>
inline constexpr auto difflab::config::kNames<difflab::report::Band> = names("ci95", "none");
