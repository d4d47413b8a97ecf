#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/value/problems.h"
#include "config/value/value.h"

namespace difflab::config {

/// Options that a group choice picks: none (null), one, or several.
using Choice = std::variant<std::monostate, std::string, std::vector<std::string>>;

/// The answer to a choice or key that configures Hydra itself.
constexpr std::string_view kNoHydra =
    "there is no hydra to configure: launcher=… spreads the runs, sweep: lists them, results=… "
    "is their folder, --project adds one of configurations";

/// An option without the .yaml that Hydra lets one write behind it.
std::string option_name(std::string name);

/// Reads what a defaults list or an override chooses. False if it is no name and no list of names.
/// Options may look like numbers or words: model=2, device=true.
bool read_choice(const Value& value, Choice& choice);

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
  /// A choice that configures Hydra itself, once it is placed: `override hydra/launcher: x`.
  bool is_hydras() const;
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
