#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "task/base/task.h"

namespace difflab {

class LanguageModel;

/// Who is asked: a model, or in a test somebody whose answers are known by hand.
struct Answerer {
  /// The most likely token wherever something is asked, [B, T]; kIgnore elsewhere.
  std::function<at::Tensor(const Batch& batch)> answer;
  /// The most likely continuation, one token after the other: prompts [B, P] -> [B, tokens].
  std::function<at::Tensor(const at::Tensor& prompts, std::int64_t tokens)> go_on;
};

/// The model, asked in batches that fit the cache, `lanes` of them at the same time.
Answerer answerer(LanguageModel& model, int lanes);

}  // namespace difflab
