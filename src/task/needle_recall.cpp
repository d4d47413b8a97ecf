#include "task/needle_recall.h"

#include "task/recall_mixture.h"

namespace difflab {

std::unique_ptr<Task> NeedleRecallConfig::build() const {
  return with_recall(needle.build(), recall_share);
}

}  // namespace difflab
