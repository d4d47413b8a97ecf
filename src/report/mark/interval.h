#pragma once

#include "report/figure/figure.h"

namespace difflab::report {

/// One row for each value of `y`: every run as a point, their mean and its 95 % interval. Where
/// some runs never got there, their points are open triangles at the last step, and mean and
/// interval are the median's. With `against` the rows are differences to that value of `y` on equal
/// seeds. Legible with many more values than curves would be.
struct IntervalConfig : FigureCommon {
  static constexpr std::string_view kKind = "interval";
  static constexpr std::string_view kAbout =
      "a row per variant: every run as a point, their mean and 95 % interval";

  std::string y;        ///< axis, or a key of the cells
  std::string x;        ///< metric
  std::string facet;    ///< axis; one panel per value, each with a scale of its own
  bool shared = false;  ///< panels stand below each other and have one scale
  std::string against;  ///< value of y; empty: no difference
  std::vector<std::string> opponents = {};  ///< values of y; ratios to the best of them are told
  AxisScale x_scale = AxisScale::kLinear;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("y", y, "axis or key of the cells with one row per value", config::given());
    visit("x", x, "metric", config::given());
    visit("facet", facet, "axis with one panel per value");
    visit("against", against, "value of y: rows show the difference to it on equal seeds");
    visit("shared", shared, "panels stand below each other and share one axis");
    visit("opponents", opponents,
          "values of y: each row tells the ratio of its geometric mean to the best of them");
    visit("x_scale", x_scale, "linear or log");
  }
  void validate(config::Check& check) const { check_linear("x_scale", x_scale, against, check); }
  void check_names(FigureRules& rules) const {
    rules.must_vary("facet", facet, *this);
    rules.may_be_axis(y);
    rules.must_be_value("against", y, against);
    if (source.empty()) rules.must_be_metric("x", x);
  }

  /// CSV: mean_M, low_M, high_M (with against M is METRIC_difference), n of each row, and the
  /// values of its runs, those that never got there with a ">"; of rows that have such runs the
  /// median, if half got there, and its interval (Brookmeyer & Crowley), without its right end
  /// where that is open.
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report
