#pragma once

#include "report/figure/figure.h"

namespace difflab::report {

/// How often values occur, as steps, one line per value of `color`: the share of each run's values
/// in a bin, mean over runs. Either every row is one value, and all runs share equal bins; or the
/// rows are bins already, from `x` to `x_end` with `weight` values in them; where the runs' bins do
/// not agree they are spread over common ones.
struct HistogramConfig : FigureCommon {
  static constexpr std::string_view kKind = "histogram";
  static constexpr std::string_view kAbout =
      "how often values occur: the share of a run's values in each bin, mean over runs";

  std::string x, x_end, weight;
  std::string color;  ///< axis
  std::string facet;  ///< axis; one panel per value
  std::int64_t bins = 30;
  AxisScale x_scale = AxisScale::kLinear, y_scale = AxisScale::kLinear;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("x", x, "the value, or where a bin begins", config::given());
    visit("x_end", x_end, "where a bin ends, if the cells are bins");
    visit("weight", weight, "how many values a bin holds, if the cells are bins");
    visit("color", color, "axis with one line per value");
    visit("facet", facet, "axis with one panel per value");
    visit("bins", bins, "how many, if the cells are values", config::between(1, 1000));
    visit("x_scale", x_scale, "linear or log");
    visit("y_scale", y_scale, "linear or log");
  }
  void validate(config::Check& check) const {
    if (x_end.empty() != weight.empty()) {
      check.problem("weight", "and x_end belong together; expected both or neither");
    }
  }
  void check_names(FigureRules& rules) const {
    rules.must_vary("color", color, *this);
    rules.must_vary("facet", facet, *this);
  }
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report
