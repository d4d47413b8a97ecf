#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/compose/compose.h"
#include "config/grid/sweep_plan.h"
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

/// Content of one file without its presets, at its place in the tree.
struct FileWords {
  std::string file;
  Value content;
};

/// Contents of all files of a composition, in the order in which they are merged.
std::vector<FileWords> words_of(Library& library, const std::vector<Default>& defaults);

/// A preset without what a file says otherwise that is merged after the one which wrote the
/// preset. An axis and the value of its key are the same key, and so are the axes seed and repeat.
Value without_overruled(const Value& preset, const std::vector<FileWords>& files);

/// Reports values of a file that another one, which it builds on, sweeps over.
void refuse_overruled_axes(SweepPlan& plan, const std::vector<FileWords>& files,
                           Problems& problems);

/// A sentence for each value that the file `own` sets and that a preset of another file changes.
std::vector<std::string> changes_by(const Value& preset, const std::string& name,
                                    const std::vector<FileWords>& files, const std::string& own);

}  // namespace difflab::config
