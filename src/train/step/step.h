#pragma once

#include <memory>

#include "model/score.h"
#include "task/base/task.h"
#include "train/settings/train_config.h"
#include "train/step/optimizer.h"

namespace difflab {

/// Results of a training step.
struct StepFound {
  double loss;       ///< mean cross-entropy, nats
  double grad_norm;  ///< before clipping
};

/// Questions of a batch, weighted as the loss has it; on the CPU.
Questions questions_of(const Batch& batch, const LossConfig& loss);

/// Forward, loss, backward, clipping, AdamW. If loss or norm is not finite, the training has
/// diverged, and what the parameters are then is not said.
class Step {
 public:
  virtual ~Step() = default;
  /// One step with a batch on the CPU.
  virtual StepFound run(const Batch& batch, double lr) = 0;
};

/// How each step is done that is not recorded.
std::unique_ptr<Step> plain_step(LanguageModel& model, Optimizer& optimizer,
                                 const TrainConfig& config);

}  // namespace difflab
