#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "train/settings/train_config.h"

namespace difflab {

/// AdamW over all parameters of a model at once. Parameters, gradients and moments each lie in one
/// flat buffer, so clipping and the update are one operation each instead of one per parameter.
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

  /// One update with the gradients as they are. p ← p·(1 − lr·weight_decay), then the Adam step.
  void step(double lr);
  void step(const at::Tensor& lr);  ///< lr a scalar on the parameters' device

  std::int64_t steps_taken() const;
  const at::Tensor& first_moment() const { return first_; }     ///< [P]
  const at::Tensor& second_moment() const { return second_; }   ///< [P]
  const at::Tensor& parameters() const { return parameters_; }  ///< [P], in order of their names

  /// Puts back what a checkpoint held; each tensor [P].
  void restore(const at::Tensor& parameters, const at::Tensor& first, const at::Tensor& second,
               std::int64_t steps_taken);

 private:
  template <class Rate>
  void update(const Rate& lr);

  TrainConfig config_;
  at::Tensor parameters_, gradients_, first_, second_;  // [P]
  at::Tensor steps_;                                    // scalar, float32
};

}  // namespace difflab
