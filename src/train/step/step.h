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

/// Steps done one by one before the next is recorded: in the first ones the library looks up its
/// routines and sets up their memory, which a graph cannot hold.
constexpr int kStepsBeforeRecording = 3;

/// Steps on a CUDA device whose operations are recorded as a graph, after a few done one by one,
/// and then launched as one: small models else wait for the launches of some hundred kernels. One
/// graph for each number of questions that a batch asks, up to eight; batches with others go on one
/// by one.
/// @throws UserError if difflab was built without CUDA's headers.
std::unique_ptr<Step> recorded_step(LanguageModel& model, Optimizer& optimizer,
                                    const TrainConfig& config);

}  // namespace difflab
