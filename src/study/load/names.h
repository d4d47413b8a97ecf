#pragma once

#include <string>
#include <vector>

#include "report/settings/report_config.h"
#include "study/study.h"

namespace difflab::cli {

/// What a study calls by a name that nothing has: its baseline, the variants of its claims and
/// where they are asked, metrics of tables, figures, claims, events and tuning. Each would leave
/// something out, or never come, and nobody would know before the last run has ended. Variants and
/// values that the command line took out of the sweep are none.
std::vector<report::ReportProblem> check_names(const Study& study);

}  // namespace difflab::cli
