#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "task/base/lengths.h"
#include "task/base/task.h"

namespace difflab {

/// A task of which each batch is of one of several, with the same probability: drawn by (seed,
/// split, index), so that all variants of a seed see the same. Sequences of a batch have the same
/// length, hence none is padded. The task itself if there is only one.
/// @param tasks with one vocabulary and the same parts, of several lengths or numbers of needles
std::unique_ptr<Task> of_mixed_lengths(std::vector<std::unique_ptr<Task>> tasks);

/// The task of a configuration with `length` and `lengths`: build(one) for each length.
template <class Config, class Build>
std::unique_ptr<Task> of_lengths(const Config& config, Build build) {
  std::vector<std::unique_ptr<Task>> tasks;
  for (const auto T : config.lengths.empty() ? std::vector{config.length} : config.lengths) {
    tasks.push_back(build(with_length(config, T)));
  }
  return of_mixed_lengths(std::move(tasks));
}

}  // namespace difflab
