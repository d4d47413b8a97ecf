#pragma once

#include <string>
#include <vector>

#include "config/problems.h"
#include "config/value.h"

namespace difflab::config {

/// Replaces every ${…} in the tree, or only below the given top-level keys, by what it refers to:
/// ${a.b} from the root, ${.x} beside the value, ${..x} one map up, ${a.${b}}, and the resolvers
/// oc.env, oc.select and oc.decode. A value that is one interpolation takes its target's
/// type and source, otherwise the parts are joined as text. Unknown keys and circles go to
/// `problems`.
void interpolate(Value& root, Problems& problems);
void interpolate(Value& root, const std::vector<std::string>& keys, Problems& problems);

}  // namespace difflab::config
