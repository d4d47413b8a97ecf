#pragma once

#include <cstdint>

#include "model/score.h"
#include "task/task.h"

namespace difflab {

/// Scores sequences 0 … samples − 1 of a split, in batches that fit the cache.
Score score_batches(LanguageModel& model, const Task& task, std::uint64_t seed, Split split,
                    std::int64_t samples);

}  // namespace difflab
