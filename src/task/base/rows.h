#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "task/base/task.h"
#include "util/random.h"

namespace difflab {

/// The tokens or targets of one sequence.
using TokenSpan = std::span<std::int64_t>;

/// `count` of the values, each at most once, in the order in which they are drawn.
template <class T>
std::vector<T> drawn_from(const std::vector<T>& values, std::int64_t count, Random& random) {
  std::vector<T> drawn;
  for (const auto i : random.distinct(count, static_cast<std::int64_t>(values.size()))) {
    drawn.push_back(values[static_cast<std::size_t>(i)]);
  }
  return drawn;
}

/// A batch [size, length] whose rows are written one by one by write(random, input, target). Each
/// row has a stream of its own, named by (seed, task, split, index, row); its targets are kIgnore
/// until written.
template <class Write>
Batch batch_of_rows(std::string_view task, std::uint64_t seed, Split split, std::int64_t index,
                    std::int64_t size, std::int64_t length, Write write) {
  auto inputs = at::empty({size, length}, at::kLong);
  auto targets = at::full({size, length}, kIgnore, at::kLong);
  const auto T = static_cast<std::size_t>(length);
  for (std::int64_t row = 0; row < size; ++row) {
    Random random{seed, stream_key(task), static_cast<std::uint64_t>(split),
                  static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(row)};
    write(random, TokenSpan(inputs.data_ptr<std::int64_t>() + row * length, T),
          TokenSpan(targets.data_ptr<std::int64_t>() + row * length, T));
  }
  return {inputs, targets};
}

}  // namespace difflab
