#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/override/functions.h"
#include "config/override/override_value.h"
#include "util/error.h"

namespace difflab::config {

/// What the functions of the override grammar do with their arguments. All throw UserError.

using Arguments = std::vector<Element>;

[[noreturn]] inline void fail(const std::string& message) { throw UserError(message); }
/// The scalar that an element is, or null.
const Value* scalar_of(const Element& element);
/// The number that an element is; `name` is the parameter that it is given for.
const Value& number_of(const Element& element, const std::string& name);
/// A function's arguments in the order of its parameters; optional ones may be absent.
std::vector<std::optional<Element>> bind(FunctionCall& call, const std::vector<std::string>& names,
                                         std::size_t required);
/// The arguments of a function that takes any number of them or one by a name.
Arguments positional(FunctionCall& call, const std::vector<std::string>& names);
/// The only argument, or several, which must be values, as the choice a,b.
Element one_or_choice(const std::string& function, Arguments arguments);

/// int(), float(), str() and bool() of a value, or of every value inside a list, a map, a choice
/// and, for numbers, a range. Texts become numbers as Python's int() and float() read them.
Element cast_to_int(FunctionCall& call);
Element cast_to_float(FunctionCall& call);
Element cast_to_text(FunctionCall& call);
Element cast_to_bool(FunctionCall& call);

}  // namespace difflab::config
