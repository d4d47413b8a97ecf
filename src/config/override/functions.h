#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/override/override_value.h"

namespace difflab::config {

/// name(arg, …, key=arg, …) in an override.
struct FunctionCall {
  std::string name;
  std::vector<Element> arguments;
  std::vector<std::pair<std::string, Element>> named;
};

/// The value of choice, range, glob, sort, shuffle, tag and the casts int, float, str, bool.
/// @throws UserError saying what is wrong with the call
Element evaluate(FunctionCall call);

/// The order that shuffle() gives, always the same for the same number of items, so that a sweep
/// run again finds its runs.
void shuffle_in_place(std::vector<Element>& items);

}  // namespace difflab::config
