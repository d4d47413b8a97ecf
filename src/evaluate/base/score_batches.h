#pragma once

// Includes and functions that an evaluation needs which runs the model on batches.
#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "model/language_model.h"
#include "model/score.h"
#include "task/base/task.h"
#include "util/json.h"

namespace difflab {

struct EvaluationContext;

/// How many sequences of T tokens make a batch whose activations stay in the cache.
std::int64_t sequences_per_batch(std::int64_t length);

/// The same for a task, but at least as many (up to 64) as give each of its parts some of a batch,
/// which may then be too large for the cache.
std::int64_t sequences_per_batch(const Task& task);

/// Visits sequences 0 … samples − 1 of a split, in batches that fit the cache, on the model's
/// device.
void for_each_batch(const LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples, const std::function<void(const Batch&)>& visit);

/// The same of a task's test split.
void for_each_batch(const EvaluationContext& context, const Task& task, std::int64_t samples,
                    const std::function<void(const Batch&)>& visit);

/// Calls work(0) … work(n − 1), up to `lanes` at the same time, each lane on a thread of its own
/// and the first on the caller's. What one call writes no other may touch. The first exception ends
/// all lanes at their next call and is thrown here.
void side_by_side(int lanes, std::int64_t n, const std::function<void(std::int64_t)>& work);

/// Scores sequences 0 … samples − 1 of a split, in batches that fit the cache, `lanes` of them at
/// the same time.
Score score_batches(LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples, int lanes = 1);
Score score_batches(const EvaluationContext& context, const Task& task, std::int64_t samples,
                    Split split = Split::kTest);

/// Adds to a sum on the CPU, which is undefined at first.
inline void accumulate(at::Tensor& sum, const at::Tensor& part) {
  sum = sum.defined() ? sum + part.cpu() : part.cpu();
}

/// A cell's fields for a score: samples, n, correct, accuracy, accuracy_low and accuracy_high
/// (Wilson, 95 %), chance, loss.
Json cell_of(const Score& score, std::int64_t samples, double chance);

}  // namespace difflab
