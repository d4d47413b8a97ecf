#pragma once

#include <string>
#include <vector>

namespace difflab {

/// The values as one line of at most `width` bars ▁ to █, the smallest lowest; neighbours share a
/// bar (their mean) where there are more values than columns. Values that are not finite are left
/// out.
std::string sparkline(const std::vector<double>& values, int width);

}  // namespace difflab
