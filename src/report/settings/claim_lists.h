#pragma once

#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::report {

/// Writes out the claims of an experiment's settings: one whose `where` holds lists becomes one
/// claim for each combination of their values, the last axis fastest, and {AXIS} in `text` and
/// `paper` becomes the label of the axis' value in `where`. What is no claim is left to the reader.
void expand_claims(config::Value& settings, config::Problems& problems);

}  // namespace difflab::report
