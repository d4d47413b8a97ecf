#pragma once

#include <filesystem>
#include <string>

#include "study/study.h"

namespace difflab::cli {

/// A study without runs, with its results in this folder.
Study study_without_runs(const std::filesystem::path& results, const std::string& name,
                         const std::string& title);

/// Adds a run as it was configured. @throws UserError if that is another run today.
void add_known_run(Study& study, RunConfig config, const std::string& id, const sweep::Axes& axes);

/// Adds a run of a reference. @throws UserError if its configuration means another run today.
void add_known_run(Study& study, const report::PlannedRun& run);

}  // namespace difflab::cli
