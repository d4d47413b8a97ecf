#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "util/json.h"

namespace difflab::report {

enum class LegendPlace { kOwn, kBottom, kRight, kTop, kNone };

/// The look of all figures of a report, for the paper that they go into.
struct StyleConfig {
  std::string font = {};  ///< empty: Liberation Sans, or what stands for Arial
  double size = 7.5;  ///< points of the titles of axes; other letters keep their proportion to them
  std::int64_t height = 0;  ///< of a plot's panels in pixels of 1/96 inch; 0: the kind's own
  LegendPlace legend = LegendPlace::kOwn;
  std::vector<std::string> palette = {};  ///< colours of the variants in their order; empty: ours
  double line_width = 1;                  ///< factor

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("font", font, "font of all text, one that is installed; empty for Liberation Sans");
    visit("size", size, "points of the titles of axes; all text is scaled with them",
          config::between(3, 30));
    visit("height", height,
          "height of a panel of lines, points or a histogram, in pixels of 1/96 inch; 0 for the "
          "kind's own",
          config::between(0, 2000));
    visit("legend", legend, "where legends stand; own for the kind's own place");
    visit("palette", palette,
          "colours of the variants in their order, e.g. ['#000000', '#0072B2']; empty for ours");
    visit("line_width", line_width, "factor for the width of lines", config::between(0.1, 10));
  }
  void validate(config::Check& check) const;
  bool operator==(const StyleConfig&) const = default;

  /// Text scaled by this factor.
  double text_scale() const { return size / 7.5; }
  /// True if legends stand at a figure's right, where `own` says it of the kind's own place.
  bool has_legend_beside(bool own) const {
    return legend == LegendPlace::kOwn ? own : legend == LegendPlace::kRight;
  }
  /// Height of a panel that is `own` without a style.
  int height_of(int own) const { return height > 0 ? static_cast<int>(height) : own; }
  /// Sets font, sizes, legends and line widths of a finished Vega-Lite specification.
  void apply(Json& spec) const;
};

}  // namespace difflab::report

template <>
inline constexpr auto difflab::config::kNames<difflab::report::LegendPlace> = names("own", "bottom",
                                                                                    "right", "top",
                                                                                    "none");
