#pragma once

#include <filesystem>

#include "report/settings/study.h"

namespace difflab::report {

/// A report's folder as a study that can be reported again, without the experiment's file and
/// without the runs' directories.
struct Archive {
  Study study;
  Frame frame;
};

/// Reads runs.json and observations.json of `folder`.
/// @param output where the study will be reported, for `study.output`; not looked at
/// @throws UserError if there is no report, if it was made before reports kept what they were made
/// from (naming what is missing), or if a file is damaged.
Archive read_archive(const std::filesystem::path& folder, const std::filesystem::path& output);

/// The JSON object in a file. @throws UserError if there is none, or it is damaged.
Json read_object(const std::filesystem::path& file);

}  // namespace difflab::report
