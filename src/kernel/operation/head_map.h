#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace difflab::kernel {

/// Which of the heads in q, k and v each output head reads, one number per output head. Without
/// second maps, q2 and k2 are empty. Heads that read the same v may share keys; heads that read
/// different ones must not. A query head makes one map. It is the first of one output head, or the
/// second, the noise map, of one or several, which then have its keys and their values in common.
struct HeadMap {
  std::vector<std::int64_t> q1, q2, k1, k2, v;
};

/// Output heads that are differed by one noise map, or one output head.
using Outputs = std::vector<std::size_t>;

/// Groups of output heads by the values that they read, and so may add to the same gradients of.
using Groups = std::map<std::int64_t, std::vector<Outputs>>;

/// @throws c10::Error if a query head is in two maps, or heads of one noise map read unlike values
/// or keys.
Groups groups_of(const HeadMap& heads);

}  // namespace difflab::kernel
