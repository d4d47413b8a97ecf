#pragma once

#include "model/score.h"
#include "task/base/task.h"
#include "train/settings/loss_config.h"

namespace difflab {

/// What a batch asks, weighted as the loss has it; on the CPU.
Questions questions_of(const Batch& batch, const LossConfig& loss);

}  // namespace difflab
