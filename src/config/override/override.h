#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/override/override_value.h"
#include "config/value/value.h"

namespace difflab::config {

/// One argument such as `train.steps=20`, `+model@teacher=diff`, `~launcher` or `seed=range(3)`.
struct Override {
  enum class Type { kChange, kAdd, kForceAdd, kDelete };

  Type type = Type::kChange;
  std::string key;                     ///< "train.steps", "db/deep"
  std::optional<std::string> package;  ///< after @
  std::optional<Element> value;        ///< empty only for `~key`
  std::string text;                    ///< as it was typed
  Source source;                       ///< what messages show; the text unless it came from a file

  bool is_sweep() const;
  /// Whether it is a sweep, or has one inside a list or map: no single value.
  bool holds_sweep() const;
  /// The value that a run gets; a logic error for a sweep.
  Value to_value() const;
};

/// The names of a key path: "a", "0" and "b" of "a[0].b" and of "a.0.b".
std::vector<std::string> key_parts(std::string_view key);

/// Parses Hydra's override grammar (1.3, with key paths of 1.4; docs/configuration.md).
/// @throws UserError that names the override and points a caret at the column.
Override parse_override(std::string_view text);

/// Parses what may stand after the =, e.g. "range(3)" or "a,b". @throws UserError
Element parse_override_value(std::string_view text);

}  // namespace difflab::config
