#pragma once

#include <vector>

#include "config/value/problems.h"

namespace difflab {

struct RunConfig;

/// A group of train.groups whose pattern matches no parameter of any of the models that are trained
/// with it is a slip of the pen. It may miss some models of a sweep: *.lambda_* misses the
/// Transformer.
void check_parameter_groups(const std::vector<const RunConfig*>& runs, config::Problems& problems);

}  // namespace difflab
