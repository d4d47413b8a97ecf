#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/problems.h"
#include "config/value.h"

namespace difflab::config {

/// What a group choice picks: nothing (null), one option, or several.
using Choice = std::variant<std::monostate, std::string, std::vector<std::string>>;

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

  // Filled in when the list is walked.
  std::string parent_group;           ///< the group of the config whose list this is
  std::string parent_package;         ///< its package
  std::optional<std::string> header;  ///< of the chosen file

  bool is_self() const { return !group && path == "_self_"; }
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
};

/// Reads the `defaults:` of a file. What is wrong goes to `problems`.
std::vector<DefaultItem> read_defaults(const Value& list, Problems& problems);

}  // namespace difflab::config
