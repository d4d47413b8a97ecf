#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/compose/compose.h"
#include "config/value/value.h"
#include "util/json.h"

namespace difflab::config {

/// One value that a key had while a configuration was composed.
struct Step {
  Value value;
  bool removed = false;  ///< by `~key`
  Source source;         ///< the line or override that gave it
  Source chosen;         ///< the line or override that brought in the file of that line, if any did
};

/// Remembers how a tree is composed: which files went into it, and every value that a key had on
/// the way.
class Trace {
 public:
  /// @param key what to follow: the values below it, or with "" none
  explicit Trace(std::string key = "") : key_(std::move(key)) {}

  /// For ComposeOptions::observer; the trace must outlive its use.
  Observer observer();

  /// The tree after the last step, interpolations unresolved.
  const Value& tree() const { return tree_; }
  const std::vector<Default>& defaults() const { return defaults_; }
  /// The values of `path`, the one that counts last; none if nothing wrote it. Values of a map are
  /// those of the keys in it.
  const std::vector<Step>& steps(const std::string& path) const;

 private:
  void note(const Layer& layer);

  std::string key_;
  Value tree_;
  std::vector<Default> defaults_;
  std::map<std::string, std::vector<Step>> history_;  ///< by path
};

/// The paths of everything below `value` that is no map with keys in it: "a.b", "a.list".
std::vector<std::string> leaves(const Value& value, const std::string& path);

/// The files of a composition as a tree, each list's files below it in the order in which they are
/// merged, with the line or override that asked for each.
std::string defaults_tree(const std::vector<Default>& defaults);

/// The same as a list: {"config", "package", "label", "chain", "from", "instead_of"}.
Json to_json(const std::vector<Default>& defaults);

}  // namespace difflab::config
