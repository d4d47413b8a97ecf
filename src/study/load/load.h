#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/grid/study.h"
#include "config/value/problems.h"
#include "report/settings/report_config.h"
#include "study/study.h"

namespace difflab::cli {

/// Where a path in the configuration starts. One given on the command line is meant from where the
/// user is, one in a file from the project.
std::filesystem::path place_of(const config::Value& settings, const std::string& key,
                               const std::filesystem::path& root);

/// A composed run as its configuration says it, with the path of its text absolute; no file is
/// looked at.
RunConfig written_run(const config::Value& composed, const std::filesystem::path& root,
                      config::Problems& problems);

/// Adds composed points to a study, checked and with their input files. If there are problems, none
/// may be added.
void resolve(const std::vector<config::Point>& points, Study& study, config::Problems& problems);

/// Tunes nothing where the tuned key is set by a stronger word than `tune`: the command line is
/// stronger than the experiment's own file, and that is stronger than those which it builds on.
void leave_tuning(const config::Study& composed, Study& study);

/// Fits tables, figures and claims to the axes that the command line has added to those of the
/// files or taken from them. An added axis joins rows and facets, and a claim that names no value
/// of it is made for each. What asks for an axis that is gone is left out, unless the runs have
/// the value that it asks for.
/// @param study with its points
void follow_axes(const config::Study& composed, Study& study);

/// Names in a study that refer to nothing: its baseline, the variants of its claims and where they
/// are asked, metrics of tables, figures, claims, events and tuning. Each would leave something
/// out, or wait for an event that never comes, unnoticed until the last run has ended. Variants and
/// values that the command line took out of the sweep are no problem.
std::vector<report::ReportProblem> check_names(const Study& study);

}  // namespace difflab::cli
