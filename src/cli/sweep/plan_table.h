#pragma once

#include <string>

#include "study/study.h"

namespace difflab::cli {

/// One line per point of the sweep (id, axes, state), then how many runs are in which state.
std::string plan_table(const Study& study);

/// The same for programs: [{"id", "axes": {…}, "state", "directory"}, …].
std::string plan_json(const Study& study);

}  // namespace difflab::cli
