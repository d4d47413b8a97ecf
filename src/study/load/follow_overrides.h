#pragma once

#include "config/grid/study.h"
#include "study/study.h"

namespace difflab::cli {

/// Tunes nothing where the tuned key is set by a stronger word than `tune`: the command line is
/// stronger than the experiment's own file, and that is stronger than those which it builds on.
void leave_tuning(const config::Study& composed, Study& study);

/// Fits tables, figures and claims to the axes that the command line has added to those of the
/// files or taken from them. An added axis joins rows and facets, and a claim that names no value
/// of it is made for each. What asks for an axis that is gone is left out, unless the runs have
/// the value that it asks for.
/// @param study with its points
void follow_axes(const config::Study& composed, Study& study);

}  // namespace difflab::cli
