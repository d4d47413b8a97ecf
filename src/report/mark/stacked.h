#pragma once

#include "report/figure/figure.h"

namespace difflab::report {

/// The parts of one whole as bars on top of each other, means over runs: where attention goes.
/// Parts below zero hang below the axis.
struct StackedConfig : FigureCommon {
  static constexpr std::string_view kKind = "stacked";
  static constexpr std::string_view kAbout =
      "the parts of one whole as bars on top of each other, means over runs";

  StackedConfig() { width = ColumnWidth::kDouble; }

  std::string x;     ///< axis, or a key of the cells
  std::string y;     ///< key of the cells with the size of a part
  std::string part;  ///< key of the cells with its name; the first cells' lie lowest
  std::string facet;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("x", x, "axis or key of the cells with one bar per value, e.g. depth");
    visit("y", y, "key of the cells with the size of a part, e.g. share");
    visit("part", part, "key of the cells with the name of a part, e.g. region");
    visit("facet", facet, "axis or key of the cells with one panel per value");
  }
  void validate(config::Check& check) const;
  /// Its fields against the axes of the sweep (settings/report_rules.cpp).
  template <class Rules>
  void check_axes(Rules& rules) const {
    rules.must_vary("facet", facet, *this);
    rules.may_be_axis(x);
    rules.may_be_axis(part);
  }
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report
