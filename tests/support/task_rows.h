#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"
#include "task/base/task.h"
#include "util/text.h"

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

/// Collects the problems of a configuration as "key message" lines.
class Problems final : public config::Check {
 public:
  template <class Config>
  static std::string of(const Config& config) {
    Problems problems;
    config.validate(problems);
    return problems.text_;
  }
  void problem(std::string_view key, std::string_view message) override {
    text_ += concat(key, " ", message, "\n");
  }

 private:
  std::string text_;
};

}  // namespace difflab::testing
