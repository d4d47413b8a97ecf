#pragma once

#include <optional>
#include <string>

#include "config/override/override.h"
#include "config/value/problems.h"
#include "config/value/yaml.h"

namespace difflab::config {

inline constexpr const char* kDefaultPreset = "default";

/// Which entry of `presets:` a study takes.
struct Preset {
  std::string name;           ///< "default" if nothing names another
  std::optional<Value> keys;  ///< a map of what it sets; nothing if it sets nothing
};

/// @param tree what the files say, the preset aside
/// @param asked preset=NAME of the command line
/// @param experiment the experiment's own file; null without one
///
/// The preset "default" of a suite adds to that of the experiment. One that has none is run as it
/// is written: what it sets must not give way unasked.
Preset choose_preset(const Value& tree, const std::optional<Override>& asked,
                     const Document* experiment, Problems& problems);

}  // namespace difflab::config
