#pragma once

#include "report/page/gallery.h"
#include "report/settings/study.h"

namespace difflab::report {

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
