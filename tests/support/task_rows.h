#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "support/problems.h"
#include "task/base/task.h"

namespace difflab::testing {

using Row = std::vector<std::int64_t>;

inline Row row_of(const at::Tensor& matrix, std::int64_t row) {
  const auto* begin = matrix[row].data_ptr<std::int64_t>();
  return {begin, begin + matrix.size(1)};
}

/// What a person reads, one word per token.
inline std::vector<std::string> words_of(const Task& task, const Row& row) {
  std::vector<std::string> words;
  for (const auto token : row) words.push_back(token == kIgnore ? "." : task.token_text(token));
  return words;
}

}  // namespace difflab::testing
