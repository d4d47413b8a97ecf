#pragma once

#include <string>

#include "config/value/value.h"

namespace difflab::config {

/// The one text of a tree, the same on every machine: JSON without blanks, keys sorted by their
/// bytes, numbers in their shortest form that reads back exactly, 1.0 distinct from 1, and the bare
/// words Infinity, -Infinity and NaN. Different trees have different texts.
std::string canonical_json(const Value& value);

}  // namespace difflab::config
