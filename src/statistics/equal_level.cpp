#include "statistics/equal_level.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace difflab {
namespace {

double best_of(const Levels& levels, bool lower) {
  const auto [low, high] = std::ranges::minmax_element(
      levels, [](const auto& a, const auto& b) { return a.second < b.second; });
  return lower ? low->second : high->second;
}

// Where the line through the levels first has y.
std::optional<double> x_at(const Levels& levels, double y, bool lower) {
  const auto reached = [&](double value) { return lower ? value <= y : value >= y; };
  const auto there =
      std::ranges::find_if(levels, [&](const auto& level) { return reached(level.second); });
  if (there == levels.begin() || there == levels.end()) return std::nullopt;
  const auto [x0, y0] = *std::prev(there);
  const auto [x1, y1] = *there;
  const bool log = y0 > 0 && y1 > 0 && y > 0;
  const auto place = [log](double value) { return log ? std::log(value) : value; };
  const double part = (place(y) - place(y0)) / (place(y1) - place(y0));
  return x0 * std::pow(x1 / x0, part);
}

}  // namespace

std::optional<double> share_at_equal_level(const Levels& one, const Levels& base, bool lower) {
  if (one.size() < 2 || base.size() < 2 || one.begin()->first <= 0 || base.begin()->first <= 0) {
    return std::nullopt;
  }
  const double a = best_of(one, lower), b = best_of(base, lower);
  const double y = lower ? std::max(a, b) : std::min(a, b);
  const auto own = x_at(one, y, lower), others = x_at(base, y, lower);
  if (!own || !others) return std::nullopt;
  return *own / *others;
}

}  // namespace difflab
