#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/compose/library.h"
#include "config/override/override.h"
#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// One line of the resolved defaults list.
struct Default {
  std::string config;                     ///< "model/diff"
  std::string package;                    ///< "model"; "" is the root
  std::optional<std::string> group = {};  ///< "model", if it is a choice
  std::string option = {};                ///< "diff", if it is a choice
  Source source;                          ///< the line or override that asked for it
  /// The choice that an override replaced with this one, and its place: {"transformer",
  /// configs/config.yaml…}.
  std::optional<std::pair<std::string, Source>> replaced;
  /// The files whose defaults lists lead here, outermost first, and the file itself, as a person
  /// names them: {"config", "model: diff"}.
  std::vector<std::string> chain;
};

struct Composition {
  Value tree;                     ///< not yet interpolated
  std::vector<Default> defaults;  ///< in the order in which they were merged
};

/// One step of a composition: a file that was merged or an override that was applied.
struct Layer {
  const Value& tree;              ///< after the step
  const Default* file = nullptr;  ///< one of the two is set
  const Override* item = nullptr;
};
using Observer = std::function<void(const Layer&)>;

struct ComposeOptions {
  /// As Hydra: `key=value` needs an existing key. Without it the key is added, for trees whose keys
  /// a typed schema checks later.
  bool strict = true;
  /// Configs appended to the defaults list of the primary one, e.g. "experiment/headline", each
  /// with the package _global_.
  std::vector<std::string> appended = {};
  /// Groups whose choice may be left ???, as a sweep makes it.
  std::set<std::string> undecided = {};
  /// Called after each step, if given.
  Observer observer = {};
  /// The tree was written for Hydra: choices of its own groups, hydra/launcher and the like, are
  /// passed over.
  bool foreign = false;
  /// Called with keys that are about to be set below one at the root: what is short for a map
  /// becomes that map.
  std::function<void(Value& tree, const std::string& key, const Value& over)> lengthen = {};
  /// Where a key is set below a text, the text is the kind of what lies there (`optimizer: muon`).
  bool texts_are_kinds = false;
};

/// The map that a text is short for where a kind is picked: muon → {kind: muon}.
Value of_kind(Value text);

/// Config group → chosen option: "model" → "diff", "model@teacher" → "small".
std::map<std::string, std::string> choices_of(const std::vector<Default>& defaults);

/// Composes the config `name` with its defaults list and the overrides, as Hydra does (see
/// docs/configuration.md). Everything wrong goes to `problems`; the tree then is what was possible.
Composition compose(Library& library, const std::string& name,
                    const std::vector<Override>& overrides, Problems& problems,
                    const ComposeOptions& options = {});

/// Applies overrides of values alone, in order.
void apply_overrides(Value& tree, const std::vector<Override>& value_overrides, Problems& problems,
                     const ComposeOptions& options = {});

/// The content of a file where its package is.
Value in_package(Value content, const std::string& package);

/// True if the override chooses, adds or removes an option of a config group.
bool is_group_override(const Override& item, const Library& library);

}  // namespace difflab::config
