#include "task/needle/needle_recall.h"

#include "task/needle/recall_mixture.h"

namespace difflab {

std::unique_ptr<Task> NeedleRecallConfig::build() const {
  std::vector<std::unique_ptr<Task>> tasks;
  for (const auto& kind : needle.batch_kinds()) {
    tasks.push_back(with_recall(kind.build(), recall_share));
  }
  return of_mixed_lengths(std::move(tasks));
}

}  // namespace difflab
