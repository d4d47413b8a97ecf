#pragma once

#include <string>
#include <vector>

#include "report/settings/study.h"

namespace difflab::report {

struct Summary {
  std::string text;  ///< to print as it is: tables, notes, the paths that were written
  int planned = 0;
  int finished = 0;  ///< with a result, diverged ones included
  int diverged = 0;
  int failed = 0;                     ///< ended without a result
  double drawing_seconds = 0;         ///< wall-clock, for figures
  bool has_failed_to_draw = false;    ///< though a renderer is there
  std::vector<std::string> warnings;  ///< e.g. the renderer is missing; part of `text`, too
};

/// Writes table.{md,csv,tex}, settings.tex, figures/NAME.{vl.json,svg,pdf,png,csv}, runs.json,
/// observations.json and report.html below `study.output` from the run directories that are
/// finished. A pure function of them: equal runs give equal bytes. Files whose content would not
/// change are not touched. All is written at the end: a report that is cut off before that stays as
/// it was.
/// @throws UserError if the configuration does not fit the runs or a file cannot be written.
Summary write_report(const Study& study);

/// The same of runs that were read elsewhere (archive/rebuild.h).
Summary write_report(const Study& study, const Frame& frame);

/// @throws UserError if a renderer that is there could not draw the figures of a report, which its
/// text has told.
void require_drawn(const Summary& summary);

}  // namespace difflab::report
