#pragma once

#include "config/override/functions.h"

namespace difflab::config {

/// int(), float(), str() and bool() of a value, or of every value inside a list, a map, a choice
/// and, for numbers, a range or an interval. Texts become numbers as Python's int() and float()
/// read them. All throw UserError.
Element cast_to_int(FunctionCall& call);
Element cast_to_float(FunctionCall& call);
Element cast_to_text(FunctionCall& call);
Element cast_to_bool(FunctionCall& call);

}  // namespace difflab::config
