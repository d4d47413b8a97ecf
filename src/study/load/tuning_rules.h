#pragma once

#include <vector>

#include "config/grid/study.h"
#include "config/value/problems.h"
#include "study/study.h"

namespace difflab::cli {

/// Reports what would make the tuning of a study another than the one that is meant: a key that
/// the sweep varies or an axis refers to, or that is no number; steps that it sets itself; seeds
/// that are reported, too.
/// @param points as composed, one for each of the study's
void check_tuning(const std::vector<config::Point>& points, const Study& study,
                  config::Problems& problems);

}  // namespace difflab::cli
