#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "report/report.h"
#include "study/study.h"

namespace difflab::cli {

using namespace study;

/// @throws UserError if a run that is to be executed needs memory or a device that is not there
void require_machine(const Study& study);

/// Executes what a study lacks through its launcher, says how it goes on, and calls `report` when
/// there is something to report. With a launcher that leaves the runs to others it comes back at
/// once. If it executed something and there is a report, it says at the end what the time went to.
/// Returns the exit code.
int run_study(const Study& study, const std::function<std::optional<report::Summary>()>& report);

/// A study without runs, with its results in this folder.
Study study_without_runs(const std::filesystem::path& results, const std::string& name,
                         const std::string& title);

/// Adds a run as it was configured, or one of a reference. @throws UserError if its configuration
/// means another run today.
void add_known_run(Study& study, RunConfig config, const std::string& id, const Axes& axes);
void add_known_run(Study& study, const PlannedRun& run);

/// Writes table, figures and report of the finished runs, and prints the table.
report::Summary write_report(const Study& study);

}  // namespace difflab::cli
