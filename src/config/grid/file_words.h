#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/compose/compose.h"
#include "config/grid/sweep_plan.h"
#include "config/value/value.h"

namespace difflab::config {

/// What one file says, its presets aside, where it stands in the tree.
struct FileWords {
  std::string file;
  Value content;
};

/// Of all files of a composition, in the order in which they are merged.
std::vector<FileWords> words_of(Library& library, const std::vector<Default>& defaults);

/// What the sweep of a tree sets, and the parts of its union; a list is a union.
std::vector<std::pair<std::string, const Value*>> sweep_entries(const Value& of);

/// A preset without what a file says otherwise that is merged after the one which wrote the
/// preset. An axis and the value of its key are the same key, and so are the axes seed and repeat.
Value without_overruled(const Value& preset, const std::vector<FileWords>& files);

/// Reports values of a file that another one, which it builds on, sweeps over.
void refuse_overruled_axes(SweepPlan& plan, const std::vector<FileWords>& files,
                           Problems& problems);

/// All axes, without the values of one that parts of a union lack: theirs are written nowhere.
std::vector<Axis> axes_with_values(SweepPlan& plan);

/// A sentence for each value that the file `own` sets and that a preset of another file changes.
std::vector<std::string> changes_by(const Value& preset, const std::string& name,
                                    const std::vector<FileWords>& files, const std::string& own);

}  // namespace difflab::config
