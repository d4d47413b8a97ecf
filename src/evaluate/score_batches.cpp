#include "evaluate/score_batches.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "model/language_model.h"

namespace difflab {

std::int64_t sequences_per_batch(std::int64_t length) {
  constexpr std::int64_t kTokens = 4'096;  // a batch of this many keeps its activations in L2
  return std::max<std::int64_t>(1, kTokens / length);
}

void for_each_batch(const LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples, const std::function<void(const Batch&)>& visit) {
  const auto device = model.parameters().front().device();
  const auto size = sequences_per_batch(task.sequence_length());
  for (std::int64_t done = 0, index = 0; done < samples; done += size, ++index) {
    const auto batch = task.batch(seed, split, index, std::min(size, samples - done));
    visit({batch.inputs.to(device), batch.targets.to(device)});
  }
}

Score score_batches(LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples) {
  Score total;
  for_each_batch(model, task, seed, split, samples,
                 [&](const Batch& batch) { total += score(model, batch.inputs, batch.targets); });
  return total;
}

}  // namespace difflab
