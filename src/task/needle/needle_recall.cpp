#include "task/needle/needle_recall.h"

#include "task/base/mixed_lengths.h"
#include "task/needle/recall_mixture.h"

namespace difflab {

std::unique_ptr<Task> NeedleRecallConfig::build() const {
  return of_lengths(
      needle, [&](const NeedleConfig& one) { return with_recall(one.build(), recall_share); });
}

}  // namespace difflab
