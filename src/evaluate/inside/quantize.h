#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "evaluate/base/evaluation.h"
#include "model/score.h"

namespace difflab {

/// Values rounded to 2^bits − 1 evenly spaced levels between ± the largest size among those that
/// lie together in the dimensions `together`. Infinite ones stay: a masked logit is −∞.
at::Tensor quantize(const at::Tensor& values, std::int64_t bits, at::IntArrayRef together);

/// The score of the test sequences of the task's first part with nothing rounded, and with each
/// number of bits; score_with(bits) computes it, 0 bits for nothing rounded. Metrics:
/// PREFIXaccuracy_B_bits for every B, PREFIXaccuracy_unquantized, and their chance. Details: cells,
/// each with bits, samples, n, correct, accuracy, accuracy_low, accuracy_high, chance, loss.
EvaluationResult scores_by_bits(const EvaluationContext& context,
                                const std::vector<std::int64_t>& bits, std::int64_t samples,
                                const std::string& prefix,
                                const std::function<Score(std::int64_t bits)>& score_with);

}  // namespace difflab
