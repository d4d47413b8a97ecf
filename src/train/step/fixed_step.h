#pragma once

#include "train/step/step.h"

namespace difflab {

/// A step in memory that stays where it is, for batches [B, T] with n questions: nothing in `work`
/// asks a device for a number, so its operations can be recorded once and replayed.
class FixedStep {
 public:
  FixedStep(LanguageModel& model, Optimizer& optimizer, const TrainConfig& config,
            const Batch& batch, const Questions& questions);

  /// Puts a batch of the same sizes, and the learning rate, to where `work` reads them.
  void load(const Batch& batch, const Questions& questions, double lr);
  void work();
  /// Waits for the device.
  StepFound found() const;

 private:
  LanguageModel& model_;
  Optimizer& optimizer_;
  double grad_clip_;
  at::Tensor inputs_;      // [B, T]
  Questions questions_;    // [n]
  at::Tensor lr_, found_;  // scalar, [2]
};

}  // namespace difflab
