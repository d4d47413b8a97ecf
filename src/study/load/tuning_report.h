#pragma once

#include <vector>

#include "report/settings/report_config.h"
#include "study/study_config.h"
#include "sweep/plan/run.h"

namespace difflab::cli {

/// The table and figures of a tuning: a row for each value of each variant, and a line for each
/// variant. @param variants their axes without the seed, at least one
report::ReportConfig report_of_tuning(const StudyConfig& study,
                                      const std::vector<sweep::Axes>& variants);

}  // namespace difflab::cli
