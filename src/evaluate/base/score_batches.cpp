#include "evaluate/base/score_batches.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "evaluate/base/side_by_side.h"
#include "model/language_model.h"
#include "statistics/share.h"

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
                    std::int64_t samples, int lanes) {
  const auto size = sequences_per_batch(task.sequence_length());
  std::vector<Score> scores(static_cast<std::size_t>((samples + size - 1) / size));
  const auto device = model.parameters().front().device();
  model.reserve_positions(task.sequence_length());  // lanes only read the table
  side_by_side(lanes, static_cast<std::int64_t>(scores.size()), [&](std::int64_t index) {
    const auto batch = task.batch(seed, split, index, std::min(size, samples - index * size));
    scores[static_cast<std::size_t>(index)] =
        score(model, batch.inputs.to(device), batch.targets.to(device));
  });
  Score total;
  for (const auto& one : scores) total += one;
  return total;
}

PartialScore score_until(LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                         std::int64_t samples, int lanes,
                         const std::function<bool(const PartialScore&)>& enough) {
  PartialScore found;
  std::vector<Batch> few;
  for_each_batch(model, task, seed, split, samples, [&](const Batch& batch) {
    found.all_targets += batch.targets.ge(0).sum().item<std::int64_t>();
    constexpr std::int64_t kFew = 16;
    const auto inputs = batch.inputs.split(kFew), targets = batch.targets.split(kFew);
    for (std::size_t i = 0; i < inputs.size(); ++i) few.push_back({inputs[i], targets[i]});
  });
  model.reserve_positions(task.sequence_length());  // lanes only read the table
  const auto together = static_cast<std::size_t>(std::max(lanes, 1));
  for (std::size_t begin = 0; begin < few.size() && !enough(found); begin += together) {
    std::vector<Score> scores(std::min(together, few.size() - begin));
    side_by_side(lanes, static_cast<std::int64_t>(scores.size()), [&](std::int64_t index) {
      const auto at = static_cast<std::size_t>(index);
      scores[at] = score(model, few[begin + at].inputs, few[begin + at].targets);
    });
    for (const auto& one : scores) found.score += one;
  }
  return found;
}

Json cell_of(const Score& score, std::int64_t samples, double chance) {
  const auto interval = wilson_interval(score.correct, score.targets);
  return {{"samples", samples},
          {"n", score.targets},
          {"correct", score.correct},
          {"accuracy", score.accuracy()},
          {"accuracy_low", interval->low},
          {"accuracy_high", interval->high},
          {"chance", chance},
          {"loss", score.loss()}};
}

}  // namespace difflab
