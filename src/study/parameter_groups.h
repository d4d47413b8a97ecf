#pragma once

#include "config/value/problems.h"

namespace difflab::cli {

struct Study;

/// A group of train.groups whose pattern matches no parameter of any model that is trained with it
/// is a slip of the pen. It may miss some models of a sweep: *.lambda_* misses the Transformer.
void check_parameter_groups(const Study& study, config::Problems& problems);

}  // namespace difflab::cli
