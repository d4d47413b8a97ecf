#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "config/value/value.h"

namespace difflab::config {

/// The value of a name in an expression, e.g. "train.lr" or "tags[0]"; null if there is none.
using NameLookup = std::function<const Value*(const std::string& name)>;

/// The value of an expression such as `train.lr * model.width < 1 or model == 'small'`:
///
///   or   and   not   == != < <= > >=   in [a, b]   + -   * / // %   - (sign)   **   ( )
///
/// binding from weakest to strongest as in Python, with the same meaning: / gives a fraction, //
/// rounds down, whole numbers stay whole. Literals are numbers, 'texts', true, false, null and
/// lists; any other word is a name. `and` and `or` skip what cannot change their result.
/// @throws UserError that says what is wrong, e.g. "there is no key mdoel"
Value evaluate_expression(std::string_view text, const NameLookup& lookup);

/// Compares as == does: same content, or same number, whole or not.
bool same_value(const Value& a, const Value& b);

/// Evaluates such an expression as a condition. @throws UserError also if the result is neither
/// true nor false
bool holds(std::string_view condition, const NameLookup& lookup);

}  // namespace difflab::config
