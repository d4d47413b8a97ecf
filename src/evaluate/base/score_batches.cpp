#include "evaluate/base/score_batches.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "evaluate/base/evaluation.h"

namespace difflab {

std::int64_t sequences_per_batch(std::int64_t length) {
  constexpr std::int64_t kTokens = 4'096;  // a batch of this many keeps its activations in L2
  return std::max<std::int64_t>(1, kTokens / length);
}

std::int64_t sequences_per_batch(const Task& task) {
  constexpr double kMost = 64;  // a part that is smaller may be missing from a batch
  double least = 1;
  for (const auto& part : task.parts()) {
    if (part.share > 0) least = std::min(least, part.share);
  }
  return std::max(sequences_per_batch(task.sequence_length()),
                  static_cast<std::int64_t>(std::ceil(std::min(1 / least, kMost) - 1e-9)));
}

void for_each_batch(const LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples, const std::function<void(const Batch&)>& visit) {
  const auto device = model.parameters().front().device();
  const auto size = sequences_per_batch(task);
  for (std::int64_t done = 0, index = 0; done < samples; done += size, ++index) {
    const auto batch = task.batch(seed, split, index, std::min(size, samples - done));
    visit({batch.inputs.to(device), batch.targets.to(device)});
  }
}

void for_each_batch(const EvaluationContext& context, const Task& task, std::int64_t samples,
                    const std::function<void(const Batch&)>& visit) {
  for_each_batch(context.model, task, context.seed, Split::kTest, samples, visit);
}

void side_by_side(int lanes, std::int64_t n, const std::function<void(std::int64_t)>& work) {
  std::atomic<std::int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto lane = [&] {
    for (auto i = next++; i < n; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
        next = n;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::int64_t i = 1; i < std::min<std::int64_t>(lanes, n); ++i) others.emplace_back(lane);
    lane();
  }  // joins
  if (failure) std::rethrow_exception(failure);
}

Score score_batches(LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples, int lanes) {
  const auto size = sequences_per_batch(task);
  std::vector<Score> scores(static_cast<std::size_t>((samples + size - 1) / size));
  const auto device = model.parameters().front().device();
  model.reserve_positions(task.sequence_length());  // lanes only read the table
  const EvaluationMode no_dropout(model);
  side_by_side(lanes, static_cast<std::int64_t>(scores.size()), [&](std::int64_t index) {
    const auto batch = task.batch(seed, split, index, std::min(size, samples - index * size));
    scores[static_cast<std::size_t>(index)] =
        score(model, batch.inputs.to(device), batch.targets.to(device));
  });
  Score total;
  for (const auto& one : scores) total += one;  // in order, whatever the lanes
  return total;
}

Score score_batches(const EvaluationContext& context, const Task& task, std::int64_t samples,
                    Split split) {
  return score_batches(context.model, task, context.seed, split, samples, context.lanes);
}

Json cell_of(const Score& score, std::int64_t samples, double chance) {
  Json cell = {{"samples", samples}, {"n", score.targets}, {"correct", score.correct}};
  add_accuracy(cell, score.correct, score.targets);
  cell["chance"] = chance;
  cell["loss"] = score.loss();
  return cell;
}

}  // namespace difflab
