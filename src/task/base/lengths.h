#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "util/text.h"

namespace difflab {

/// The key `lengths` of tasks whose sequences may have several lengths.
constexpr std::string_view kAboutLengths =
    "lengths T of batches, one drawn for each; empty: all have `length`, else that is the longest";

/// The task of a configuration with `lengths`, with sequences of this length alone.
template <class Config>
Config with_length(Config config, std::int64_t T) {
  config.length = T;
  config.lengths.clear();
  return config;
}

/// The shortest sequence that a task can have.
inline std::int64_t shortest_of(const std::vector<std::int64_t>& lengths, std::int64_t length) {
  return lengths.empty() ? length : *std::min_element(lengths.begin(), lengths.end());
}

/// Checks the `lengths` of a task. @param smallest length that a sequence can have
inline void check_lengths(const std::vector<std::int64_t>& lengths, std::int64_t length,
                          std::int64_t smallest, config::Check& check) {
  if (lengths.empty()) return;
  const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  if (*most != length) {
    check.problem("lengths",
                  concat("has ", *most, " as the longest; expected that to be length, ", length));
  }
  if (*least < smallest) {
    check.problem("lengths", concat("has ", *least,
                                    ", which is too short; the smallest that fits is ", smallest));
  }
}

}  // namespace difflab
