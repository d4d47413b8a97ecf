#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/grid/study.h"
#include "config/value/problems.h"
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

}  // namespace difflab::cli
