#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "train/optimizer/update_rule.h"
#include "train/settings/train_config.h"

namespace difflab {

/// Updates all parameters of a model. Parameters, gradients and state each lie in flat buffers, so
/// clipping is one operation instead of one per parameter, and so is AdamW's update.
class Optimizer {
 public:
  /// Moves the model's parameters into one buffer; they stay usable by name.
  Optimizer(torch::nn::Module& model, const TrainConfig& config);

  /// Sets all gradients to zero.
  void zero_grad();

  /// Scales all gradients by min(1, bound/(norm + 1e-6)) and returns their global norm before.
  double clip(double bound);

  /// The same without waiting for the device: the norm, a scalar there.
  at::Tensor clip_on_device(double bound);

  /// One update with the gradients as they are.
  void step(const LearningRate& lr) { rule_->step(lr); }

  const at::Tensor& parameters() const { return flat_.values; }  ///< [P], in order of their names

  /// All that a checkpoint holds: the parameters, under no name, and the optimiser's state. Writing
  /// to a buffer puts it back.
  std::vector<StateBuffer> buffers() const;

  /// Goes on as after so many steps.
  void resume_at(std::int64_t steps) {
    rule_->resume_at(steps);
    resumed_at_ = steps;
  }
  std::int64_t resumed_at() const { return resumed_at_; }

 private:
  FlatParameters flat_;
  std::unique_ptr<UpdateRule> rule_;
  std::int64_t resumed_at_ = 0;
};

}  // namespace difflab
