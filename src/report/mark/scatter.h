#pragma once

#include "report/figure/figure.h"

namespace difflab::report {

/// Points that a line of a scatter figure goes through.
enum class Through {
  kMeans,  ///< the mean over runs at each x
  kNone
};

/// Every run as a point, with a line through the means for each value of `color`: loss against
/// parameters.
struct ScatterConfig : FigureCommon {
  static constexpr std::string_view kKind = "scatter";
  static constexpr std::string_view kAbout =
      "every run as a point, with a line through the means at each x";

  std::string x, y;
  std::string color;  ///< axis
  Through line = Through::kMeans;
  AxisScale x_scale = AxisScale::kLog, y_scale = AxisScale::kLog;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    FigureCommon::visit_fields(visit);
    visit("x", x, "metric, axis, key of the cells or path of the configuration; a number",
          config::given());
    visit("y", y, "metric", config::given());
    visit("color", color, "axis with one line per value");
    visit("line", line, "means: through the mean at each x; or none");
    visit("x_scale", x_scale, "linear or log");
    visit("y_scale", y_scale, "linear or log");
  }
  void check_names(FigureRules& rules) const {
    rules.must_be_axis("color", color);
    rules.may_use_any_axis();  // every run is a point of its own
    if (!source.empty()) return;
    rules.must_be_known("x", x);
    rules.must_be_known("y", y);
  }
  Drawing draw(const Frame& frame, const Style& style) const;
};

}  // namespace difflab::report

template <>
inline constexpr auto difflab::config::kNames<difflab::report::Through> = names("means", "none");
