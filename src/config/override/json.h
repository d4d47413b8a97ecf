#pragma once

#include <string>
#include <string_view>

#include "config/override/override.h"
#include "util/json.h"

namespace difflab::config {

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
