#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "referee/base/reference.h"

namespace difflab::referee {

/// A mark of a Vega-Lite specification with the data that it draws.
struct Layer {
  const Json* mark;
  const Json* encoding;
  const Json* values;  ///< an array; null if it has none

  std::string mark_type() const;
  bool is_clipped() const;
  const Json* channel(const char* name) const;  ///< null if it has none
};

/// The marks of a specification, also inside panels.
std::vector<Layer> layers_of(const Json& spec);

/// [low, high] of a channel's scale, if it states numbers.
std::optional<std::pair<double, double>> domain_of(const Json& channel);

/// The measured metric of a figure: X of its column mean_X, "" if there is none.
std::string measured(const FigureFile& figure);

/// Titles of the panels as they are printed; none without panels.
std::vector<std::string> panel_titles(const Json& spec);

/// "figures/bits.vl.json".
std::string spec_file(const FigureFile& figure);

}  // namespace difflab::referee
