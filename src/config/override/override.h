#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/override/override_value.h"
#include "config/value/problems.h"
#include "config/value/value.h"
#include "util/json.h"

namespace difflab::config {

/// One argument such as `train.steps=20`, `+model@teacher=diff`, `~launcher` or `seed=range(3)`.
struct Override {
  enum class Type { kChange, kAdd, kForceAdd, kDelete };

  Type type = Type::kChange;
  std::string key;                     ///< "train.steps", "db/deep"
  std::optional<std::string> package;  ///< after @
  std::optional<Element> value;        ///< empty only for `~key`
  bool extends = false;  ///< extend_list(…): the value, a list, goes behind the old one
  std::string text;      ///< as it was typed
  Source source;         ///< what messages show; the text unless it came from a file

  bool is_sweep() const { return value && value->is_sweep(); }
  /// True if it is a sweep or has one inside a list or map, and so no single value.
  bool holds_sweep() const { return value && contains_sweep(*value); }
  /// The value that a run gets; a logic error for a sweep.
  Value to_value() const;
};

/// Parses Hydra's override grammar (1.3, with key paths of 1.4; docs/configuration.md).
/// @throws UserError that names the override and points a caret at the column.
Override parse_override(std::string_view text);

/// The overrides of a command line. One that cannot be parsed is a problem, and left out.
std::vector<Override> parse_overrides(const std::vector<std::string>& texts, Problems& problems);

/// Reads what stands before the = of an override, prefix, key and package, into `result`, and
/// returns the byte behind it. @throws SyntaxError
std::size_t parse_override_key(std::string_view text, Override& result);

/// Parses what may stand after the =, e.g. "range(3)" or "a,b". @throws UserError
Element parse_override_value(std::string_view text);

/// A parsed override: {"type", "key", "package", "value_type", "value", "sweep"}.
/// Texts, numbers, lists and null stand for themselves; {"float": x}, {"quoted": text, "quote":
/// kind}, {"dict": [[key, value], …]}, {"choice": […]}, {"range": [start, stop, step]} and
/// {"glob": …} for the rest; "extends" marks extend_list(). "sweep" lists the values that a sweep
/// expands to as texts that could stand after the = again; it is absent for globs and shuffled
/// sweeps.
Json to_json(const Override& item);

/// The element as it could stand after the = of an override.
std::string override_text(const Element& element);

/// A text in quotes, as an override takes it. Only quotes, and backslashes that stand before one or
/// at the end, get a backslash.
std::string in_quotes(std::string_view text, char quote);

}  // namespace difflab::config
