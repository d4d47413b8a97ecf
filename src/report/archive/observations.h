#pragma once

#include <string>

#include "report/settings/study.h"

namespace difflab::report {

/// Beside runs.json in every report: what it was made from apart from the metrics there, so that
/// the folder alone can be reported again (rebuild.h).
constexpr const char* kObservationsFile = "observations.json";
constexpr int kObservationsFormat = 1;

/// What is asked and how it is reported; of every run its axes, its configuration, and the cells
/// and lines of its curve that figures and derived metrics look at. One line a run. Parts of the
/// configurations ("train", "task", …) that several runs share stand there once.
std::string observations_text(const Study& study, const Frame& frame);

}  // namespace difflab::report
