#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "util/random.h"

namespace difflab {

/// Where needles lie in a haystack of `hay` tokens: for each of its hay + 1 gaps the needle that
/// lies there, or −1. Needle `first` has exactly round(depth/100 · hay) tokens of hay before it
/// (any number if there is no depth), the others lie in distinct gaps drawn without replacement.
/// hay >= needles − 1.
inline std::vector<std::int64_t> place_needles(Random& random, std::int64_t needles,
                                               std::int64_t hay, std::int64_t first,
                                               std::optional<double> depth) {
  std::vector<std::int64_t> needle_at(static_cast<std::size_t>(hay + 1), -1);
  const auto gap =
      depth ? std::llround(*depth / 100 * static_cast<double>(hay)) : random.below(hay + 1);
  needle_at[static_cast<std::size_t>(gap)] = first;
  const auto others = random.distinct(needles - 1, hay);  // of the gaps left over
  std::size_t next = 0;
  for (std::int64_t needle = 0; needle < needles; ++needle) {
    if (needle == first) continue;
    const auto free_gap = others[next++];
    needle_at[static_cast<std::size_t>(free_gap + (free_gap >= gap ? 1 : 0))] = needle;
  }
  return needle_at;
}

}  // namespace difflab
