#pragma once

#include <cstdint>

#include "model/score.h"
#include "task/task.h"

namespace difflab {

/// How many sequences of T tokens make a batch whose activations stay in the cache.
std::int64_t sequences_per_batch(std::int64_t length);

/// Scores sequences 0 … samples − 1 of a split, in batches that fit the cache.
Score score_batches(LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples);

}  // namespace difflab
