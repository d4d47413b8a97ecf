#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/override/override_value.h"
#include "util/error.h"

namespace difflab::config {

using Arguments = std::vector<Element>;

/// name(arg, …, key=arg, …) in an override.
struct FunctionCall {
  std::string name;
  Arguments arguments;
  std::vector<std::pair<std::string, Element>> named;
};

/// The value of choice, range, glob, sort, shuffle, tag and the casts int, float, str, bool.
/// @throws UserError saying what is wrong with the call
Element evaluate(FunctionCall call);

/// The order that shuffle() gives, always the same for the same number of items, so that a sweep
/// run again finds its runs.
void shuffle_in_place(Arguments& items);

// For the functions. All throw UserError.

[[noreturn]] inline void fail(const std::string& message) { throw UserError(message); }
/// The scalar that an element is, or null.
const Value* scalar_of(const Element& element);
/// The arguments of a function that takes any number of them or one by a name.
Arguments positional(FunctionCall& call, const std::vector<std::string>& names);
/// The only argument, or several, which must be values, as the choice a,b.
Element one_or_choice(const std::string& function, Arguments arguments);
/// int(), float(), str() and bool() of a value, or of every value inside a list, a map, a choice
/// and, for numbers, a range. Texts become numbers as Python's int() and float() read them.
Element cast(FunctionCall& call);

}  // namespace difflab::config
