#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "util/json.h"

namespace difflab::report {

/// How one variant is drawn: colour, marker and dash all differ between the looks, so that people
/// with any common colour blindness and print in grey tell them apart.
struct Look {
  std::string color;
  std::string shape;  ///< Vega symbol
  Json dash;          ///< stroke dash lengths
};

/// The looks of an axis' values, in their order. A value keeps its look whichever other values are
/// swept and in whatever order: the models of configs/model have theirs by name, the Transformer's
/// is ink; any other value is led to one by its name. Where two would share a look the later one
/// in the sweep takes the next that is free. A baseline that is no model of ours gets the ink if it
/// is free.
std::vector<Look> looks_of(const std::vector<std::string>& values, const std::string& baseline);

/// Fills for the parts of one whole, which are no variants: pale, so that ink stays legible on
/// them.
std::string part_color(std::size_t index);

}  // namespace difflab::report
