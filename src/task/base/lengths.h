#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "util/text.h"

namespace difflab {

class Task;

/// The key `lengths` of tasks whose sequences may have several lengths.
constexpr std::string_view kAboutLengths =
    "lengths T of batches, one drawn for each; empty: all have `length`, else that is the longest";

/// What a task with `lengths` says of them. @param smallest that a sequence can have
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

/// A task of which each batch has one of several lengths T, with the same probability: drawn by
/// (seed, split, index), so that all variants of a seed see the same lengths. Sequences of a batch
/// have the same length, hence none is padded. The task itself if there is only one.
/// @param tasks that differ in their length alone; not empty
std::unique_ptr<Task> of_mixed_lengths(std::vector<std::unique_ptr<Task>> tasks);

/// The task of a configuration with `length` and `lengths`: build(one) for each length.
template <class Config, class Build>
std::unique_ptr<Task> of_lengths(const Config& config, Build build) {
  std::vector<std::unique_ptr<Task>> tasks;
  for (const auto T : config.lengths.empty() ? std::vector{config.length} : config.lengths) {
    tasks.push_back(build(config.of_length(T)));
  }
  return of_mixed_lengths(std::move(tasks));
}

}  // namespace difflab
