#include "run/training_cost.h"

#include "model/cost.h"

namespace difflab {

double training_operations(const RunConfig& config, std::int64_t vocab_size) {
  const auto forward =
      count_flops(config.model, vocab_size, sequence_length(config.task), Masking::kCausal).total();
  const auto earlier = earlier_run(config);
  // Forward, twice as much back, and what is computed once more.
  const auto layers = static_cast<double>(config.model.layers);
  const double passes = config.train.recompute ? 4 - 1 / layers : 3;
  return passes * static_cast<double>(forward) * static_cast<double>(config.train.batch_size) *
             static_cast<double>(config.train.steps) +
         (earlier ? training_operations(*earlier, vocab_size) : 0.0);
}

}  // namespace difflab
