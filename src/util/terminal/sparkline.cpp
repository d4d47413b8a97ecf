#include "util/terminal/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>

namespace difflab {
namespace {

constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::vector<double> binned(const std::vector<double>& values, std::size_t bins) {
  if (values.size() <= bins) return values;
  std::vector<double> means;
  for (std::size_t i = 0; i < bins; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / bins);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / bins);
    means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  }
  return means;
}

}  // namespace

std::string sparkline(const std::vector<double>& values, int width) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  if (finite.empty() || width < 1) return "";
  const auto bars = binned(finite, static_cast<std::size_t>(width));
  const auto [low, high] = std::minmax_element(bars.begin(), bars.end());
  const double range = *high - *low;
  std::string line;
  for (const double bar : bars) {
    const double part = range > 0 ? (bar - *low) / range : 0;
    line += kBars.at(static_cast<std::size_t>(std::lround(part * (kBars.size() - 1))));
  }
  return line;
}

}  // namespace difflab
