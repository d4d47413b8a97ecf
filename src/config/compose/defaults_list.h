#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/compose/compose.h"
#include "config/compose/default_item.h"
#include "config/compose/library.h"
#include "config/override/override.h"
#include "config/value/problems.h"

namespace difflab::config {

/// The overrides that choose options of config groups, as the defaults list needs them.
class GroupOverrides {
 public:
  struct Entry {
    Choice choice;
    Source source;
    std::string file;  ///< of the `override` item; empty if it came from outside
    bool used = false;
  };
  struct Deletion {
    std::optional<std::string> option;
    Source source;
    bool used = false;
  };

  /// Configs that go to the end of the primary defaults list, with the package _global_.
  void append(const std::vector<std::string>& configs);
  /// Takes note of an override that is_group_override.
  void take(const Override& item, const Library& library, Problems& problems);
  void report_unused(const std::map<std::string, std::string>& known, Problems& problems) const;

  std::map<std::string, Entry> choices;       ///< by override key
  std::map<std::string, Deletion> deletions;  ///< by override key
  std::set<std::string> undecided;            ///< override keys whose ??? may stay
  std::vector<DefaultItem> appended;
};

/// Expands the defaults list of config `name` with everything it refers to, in merge order.
/// @param foreign passes over choices of Hydra's own groups (compose.h)
std::vector<Default> expand_defaults(Library& library, const std::string& name,
                                     GroupOverrides& overrides, Problems& problems,
                                     bool foreign = false);

}  // namespace difflab::config
