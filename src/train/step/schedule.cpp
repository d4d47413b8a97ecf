#include <cmath>
#include <numbers>

#include "train/settings/train_config.h"

namespace difflab {

double learning_rate(const TrainConfig& config, std::int64_t step) {
  if (step < config.warmup_steps) {
    return config.lr * static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
  }
  const double floor = config.final_lr_ratio;
  const auto share_of = [&](std::int64_t begin) {  // of the way from there to the last step
    const auto steps = std::max<std::int64_t>(config.steps - begin - 1, 1);
    return static_cast<double>(step - begin) / static_cast<double>(steps);
  };
  const auto line = [&](double share) { return config.lr * (1 - (1 - floor) * share); };
  switch (config.schedule) {
    case LrSchedule::kCosine: {
      const double progress = share_of(config.warmup_steps);
      return config.lr * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress)));
    }
    case LrSchedule::kLinear:
      return line(share_of(config.warmup_steps));
    case LrSchedule::kConstant:
      return config.lr;
    case LrSchedule::kStable: {
      const std::int64_t decay =
          std::llround(config.decay_share * static_cast<double>(config.steps));
      const auto begin = std::max(config.warmup_steps, config.steps - decay);
      return step < begin ? config.lr : line(share_of(begin));
    }
  }
  return config.lr;
}

}  // namespace difflab
