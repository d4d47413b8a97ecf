#pragma once

#include <map>
#include <optional>

namespace difflab {

/// A value at each of several sizes, e.g. the loss by number of parameters.
using Levels = std::map<double, double>;

/// How much of x `one` needs for the y that both reach, as a share of what `base` needs: the y is
/// the worse of the two best ones, and the x where a line first reaches it lies between two sizes,
/// on the straight line through their logarithms (of y as it is if it is not positive). Nothing is
/// extrapolated: empty if a line has that y at its smallest size already, or no two sizes.
/// @param lower whether a lower y is better
std::optional<double> share_at_equal_level(const Levels& one, const Levels& base, bool lower);

}  // namespace difflab
