#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

/// Beside runs.json in every report: what it was made from apart from the metrics there, so that
/// the folder alone can be reported again.
constexpr const char* kObservationsFile = "observations.json";
constexpr int kObservationsFormat = 1;

/// observations.json: the study's questions and its report settings; for each run its axes, its
/// configuration, and the cells and curve lines that figures and derived metrics use. One line a
/// run. Parts of the configurations ("train", "task", …) that several runs share stand there once.
std::string observations_text(const Study& study, const Frame& frame);

/// The rows of one source or curve in it.
/// @throws Json::exception if they are none.
std::vector<Json> unpack(const Json& packed);

/// The JSON object in a file. @throws UserError if there is none, or it is damaged.
Json read_object(const std::filesystem::path& file);

}  // namespace difflab::report
