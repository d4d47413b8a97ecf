#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/figure/style.h"
#include "report/settings/study.h"

namespace difflab::report {

/// A figure that was drawn as data and shall appear in the report.
struct Figure {
  std::string name;
  ColumnWidth width;
  Drawing drawing;
  bool has_images = false;  ///< .svg, .pdf and .png show this drawing
};

/// Every figure of the study as data.
std::vector<Figure> draw_figures(const Study& study, const Frame& frame, const Style& style);

struct RenderOutcome {
  std::vector<std::string> warnings;  ///< what could not be drawn and why
  std::string bundle;                 ///< JavaScript that draws figures in a browser; may be empty
};

/// Writes figures/NAME.{csv,svg,pdf,png,vl.json} below `study.output`. The specification is written
/// last: pictures whose specification stands beside them unchanged are current and not drawn again,
/// and pictures that cannot be drawn anew are removed rather than left to show old data.
RenderOutcome write_figures(const Study& study, std::vector<Figure>& figures);

/// Replaces the file unless it already holds these bytes.
void write_if_changed(const std::filesystem::path& path, const std::string& bytes);

}  // namespace difflab::report
