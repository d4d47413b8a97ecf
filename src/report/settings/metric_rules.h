#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/settings/report_config.h"

namespace difflab::report {

/// Names that a report may use, known before anything runs. A * stands for a number or a name.
struct KnownNames {
  std::vector<std::string> metrics;  ///< of result.json, those of its events with them
  std::vector<std::string> curves;   ///< of metrics.jsonl
  std::vector<std::string> axes;     ///< of the sweep
  std::function<bool(std::string_view)> is_setting;  ///< a path in the configuration of a run
  std::vector<std::string> sources;                  ///< the names of its evaluations
};

/// Where a report names a metric that no run of the study has: its cells would stay empty, and its
/// claims unmeasured, after all runs. What `derived` works out is a metric, too. Of a figure of an
/// evaluation's cells the evaluation (`source`) is looked for, its keys are left to the cells. A
/// margin that a metric's whole range lies within would call everything equivalent.
std::vector<ReportProblem> check_metrics(const ReportConfig& report, const KnownNames& known);

/// Says that the name is no metric of these runs, as a clause; empty if it is one.
std::string problem_of_metric(std::string_view name, const ReportConfig& report,
                              const KnownNames& known);

/// The same for a curve of metrics.jsonl, e.g. "is valid_acuracy, which is no held-out or training
/// curve of these runs; did you mean valid_accuracy?".
std::string problem_of_curve(std::string_view name, const std::vector<std::string>& curves);

}  // namespace difflab::report
