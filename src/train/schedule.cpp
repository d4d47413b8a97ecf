#include <cmath>
#include <numbers>

#include "train/train_config.h"

namespace difflab {

double learning_rate(const TrainConfig& config, std::int64_t step) {
  if (step < config.warmup_steps) {
    return config.lr * static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
  }
  const auto decaying = std::max<std::int64_t>(config.steps - config.warmup_steps - 1, 1);
  const auto progress =
      static_cast<double>(step - config.warmup_steps) / static_cast<double>(decaying);
  const double floor = config.final_lr_ratio;
  return config.lr * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress)));
}

}  // namespace difflab
