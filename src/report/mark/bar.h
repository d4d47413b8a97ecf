#pragma once

#include "report/figure/figure.h"

namespace difflab::report {

/// Means over runs as bars with 95 % error bars, every run as a point on top.
struct BarConfig : FigureCommon {
  static constexpr std::string_view kKind = "bar";
  static constexpr std::string_view kAbout =
      "means over runs as bars with 95 % error bars, every run as a point";
  static constexpr std::string_view kKindKey = "mark";

  std::string x;      ///< axis, or a key of the cells
  std::string y;      ///< metric
  std::string color;  ///< axis; bars side by side within x; empty: the same as x
  std::string facet;  ///< axis; one panel per value
  bool points = true;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("x", x, "axis or key of the cells with one bar per value");
    visit("y", y, "metric");
    visit("color", color, "axis with bars side by side; empty: the same as x");
    visit("facet", facet, "axis with one panel per value");
    visit("points", points, "draw every run as a point");
  }
  void validate(config::Check& check) const;
  /// Its fields against the axes of the sweep (settings/report_rules.cpp).
  template <class Rules>
  void check_axes(Rules& rules) const {
    rules.must_vary("color", color, *this);
    rules.must_vary("facet", facet, *this);
    rules.may_be_axis(x);
  }
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report
