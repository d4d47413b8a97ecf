#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// The facts that ${now:…} and ${hydra:…} stand for. One that is absent does not exist where the
/// configuration is resolved, and a reference to it is an error.
struct Facts {
  std::optional<std::time_t> start;            ///< of the whole sweep
  std::optional<std::string> job_name = {};    ///< the experiment
  std::optional<std::size_t> job_num = {};     ///< which run of the sweep, from 0
  std::map<std::string, std::string> choices;  ///< "model" → "diff", "model@teacher" → "small"
};

/// A value that holds something which may differ when the same configuration is resolved again:
/// the time, the number of the run, the working directory.
struct FleetingUse {
  Source source;
  std::string path;
};

/// Replaces every ${…} in the tree, or only below the given top-level keys, by what it refers to:
/// ${a.b} from the root, ${.x} beside the value, ${..x} one map up, ${a.${b}}, and the resolvers
/// oc.env, oc.select, oc.decode, eval (expression.h), now and hydra (Facts). A value that is one
/// interpolation takes its target's type and source, otherwise the parts are joined as text.
/// Unknown keys and circles go to `problems`, values that hold something fleeting to `fleeting`.
void interpolate(Value& root, Problems& problems, const Facts& facts = {});
void interpolate(Value& root, const std::vector<std::string>& keys, Problems& problems,
                 const Facts& facts = {}, std::vector<FleetingUse>* fleeting = nullptr);

}  // namespace difflab::config
