#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/interpolate/interpolate.h"
#include "config/interpolate/interpolation_text.h"
#include "config/value/value.h"

namespace difflab::config {

/// Why a value has no resolution; an empty message if that was reported for another value already.
struct Failure {
  std::string message;
};

/// A resolver's arguments, and what it may ask of the configuration around the value.
struct ResolverCall {
  const Interpolation& written;
  std::vector<Value> arguments;
  const Facts& facts;
  /// The value at a path, or null and why not. Unless it is wanted whole, what lies in it may be
  /// unresolved.
  std::function<const Value*(std::string_view path, bool whole, std::string& problem)> look_up;
  /// Says that the value changes from one call of the program to the next.
  std::function<void()> note_fleeting;
};

/// Calls the resolver of ${name:argument,…}. @throws Failure, UserError
Value resolve(const ResolverCall& call);

}  // namespace difflab::config
