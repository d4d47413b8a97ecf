#pragma once

#include "report/figure/figure.h"

namespace difflab::report {

/// A share between 0 and 1 over two keys of an evaluation's cells, one panel per value of `facet`,
/// all on one colour scale: depth × length. With `against` the panels show differences to that
/// value of `facet` on equal seeds instead, on one diverging scale with zero in its middle.
struct HeatmapConfig : FigureCommon {
  static constexpr std::string_view kKind = "heatmap";
  static constexpr std::string_view kAbout =
      "a share over two keys of an evaluation's cells, one panel per value of an axis";

  HeatmapConfig() { width = ColumnWidth::kDouble; }

  std::string x, y, value;
  std::string facet;         ///< axis; one panel per value
  std::string against;       ///< value of facet; empty: no difference
  std::int64_t columns = 0;  ///< panels side by side; 0: chosen by the width
  std::string reached;       ///< time to an event; only runs that got there. Empty: all

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("x", x, "key of the cells on the horizontal axis, e.g. length", config::given());
    visit("y", y, "key of the cells on the vertical axis, e.g. depth", config::given());
    visit("value", value, "key of the cells that is coloured, between 0 and 1", config::given());
    visit("facet", facet, "axis with one panel per value");
    visit("against", against, "value of facet: panels show the difference to it on equal seeds");
    visit("columns", columns, "panels side by side; 0: chosen by the width", config::at_least(0));
    visit("reached", reached,
          "time to an event, e.g. steps_to_found: only runs that got there; empty: all");
  }
  void validate(config::Check& check) const {
    if (source.empty()) check.problem("source", "is missing; expected: an evaluation with cells");
    if (!against.empty() && facet.empty()) {
      check.problem("against", "is given without facet; expected the axis whose value it is");
    }
  }
  void check_names(FigureRules& rules) const {
    rules.must_vary("facet", facet, *this);
    rules.may_be_axis(x);
    rules.may_be_axis(y);
    rules.must_be_value("against", facet, against);
    rules.must_be_metric("reached", reached);
  }
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report
