#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// What a group choice picks: nothing (null), one option, or several.
using Choice = std::variant<std::monostate, std::string, std::vector<std::string>>;

/// "diff", "[a,b]" or "null".
std::string text_of(const Choice& choice);

/// One item of a defaults list, e.g. `- override /model@teacher: diff`, and where it stands.
struct DefaultItem {
  bool group = false;                  ///< a choice of a config group, not the name of a config
  std::string path;                    ///< "/model" or "base" as written, without @package
  std::optional<std::string> package;  ///< as written after @
  Choice choice;                       ///< for a group
  bool optional = false;
  bool override_earlier = false;
  bool appended = false;  ///< by +group=option
  Source source;
  std::optional<std::pair<std::string, Source>> replaced;  ///< the choice before an override's

  // Filled in when the list is walked.
  std::string parent_group;           ///< the group of the config whose list this is
  std::string parent_package;         ///< its package
  std::optional<std::string> header;  ///< of the chosen file

  bool is_self() const { return !group && path == "_self_"; }
  /// A choice that configures Hydra itself: `override hydra/launcher: x`.
  bool is_hydras() const { return path.starts_with("hydra/") || path.starts_with("/hydra/"); }
  const std::string* name() const { return std::get_if<std::string>(&choice); }

  /// Remembers the list it stands in.
  void place(const std::string& group_of_parent, const std::string& package_of_parent);
  /// "model", or "db/deep" for `deep` inside the group db.
  std::string group_path() const;
  /// "model/diff"; the choice must be one option.
  std::string config_path() const;
  /// The package that the chosen file's content goes to, "" for the root.
  std::string final_package(bool use_header = true) const;
  /// "model", or "model@teacher" if it goes elsewhere.
  std::string override_key() const;
  /// "model: diff", "model@teacher: diff" or "db/base".
  std::string label() const;
};

/// Reads the `defaults:` of a file. What is wrong goes to `problems`.
std::vector<DefaultItem> read_defaults(const Value& list, Problems& problems);

}  // namespace difflab::config
