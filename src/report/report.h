#pragma once

#include "report/page/summary.h"
#include "report/settings/study.h"

namespace difflab::report {

/// Writes table.{md,csv,tex}, figures/NAME.{vl.json,svg,pdf,png,csv}, runs.json, observations.json
/// and report.html below `study.output` from the run directories that are finished. A pure function
/// of them: equal runs give equal bytes. Files whose content would not change are not touched.
/// @throws UserError if the configuration does not fit the runs or a file cannot be written.
Summary write_report(const Study& study);

/// The same of runs that were read elsewhere (archive/rebuild.h).
Summary write_report(const Study& study, const Frame& frame);

}  // namespace difflab::report
