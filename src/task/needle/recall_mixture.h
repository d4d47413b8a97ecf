#pragma once

#include <memory>

#include "task/base/mixed_lengths.h"
#include "task/base/task.h"

namespace difflab {

/// The task with cyclic repetition (recall.h) of its length and vocabulary mixed in: a share of
/// each batch. Tasks that score a few tokens of a sequence stall for thousands of steps at "some
/// answer from this context"; repetition teaches matching by content, which they then reuse. The
/// task itself if the share is 0.
std::unique_ptr<Task> with_recall(std::unique_ptr<Task> task, double share);

/// The task of a configuration with `recall_share` and `lengths`.
template <class Built, class Config>
std::unique_ptr<Task> with_recall(const Config& config) {
  return of_lengths(config, [](const Config& one) {
    return with_recall(std::make_unique<Built>(one), one.recall_share);
  });
}

}  // namespace difflab
