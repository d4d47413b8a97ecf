#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "report/figure/style.h"
#include "report/settings/study.h"
#include "util/process.h"

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

/// The pictures of figures, drawn by the renderer but not yet written: a report that is cut off
/// while they are drawn stays as it was.
class Pictures {
 public:
  /// Draws what is not current and says in `figures` which have pictures.
  Pictures(const Study& study, std::vector<Figure>& figures);

  const std::vector<std::string>& warnings() const { return warnings_; }  ///< not drawn, and why
  bool has_failed() const { return has_failed_; }        ///< a renderer that is there
  const std::string& bundle() const { return bundle_; }  ///< JavaScript that draws; may be empty

  /// Writes figures/NAME.{csv,svg,pdf,png,vl.json} below `study.output`. The specification is
  /// written last: pictures whose specification stands beside them unchanged are current and not
  /// drawn again. The files of a figure that could not be drawn stay together as they were.
  /// @throws UserError if a file cannot be written
  void write();

 private:
  void draw(const std::vector<Figure*>& stale, bool needs_bundle);

  const Study& study_;
  const std::vector<Figure>& figures_;
  std::vector<Figure*> drawn_;
  std::unique_ptr<Process> renderer_;  ///< waits for the word to write
  std::vector<std::string> warnings_;
  bool has_failed_ = false;
  std::string bundle_;
};

/// Replaces the file unless it already holds these bytes.
void write_if_changed(const std::filesystem::path& path, const std::string& bytes);

}  // namespace difflab::report
