#include "train/step/fixed_step.h"

#include <ATen/ATen.h>

#include "model/language_model.h"

namespace difflab {

FixedStep::FixedStep(LanguageModel& model, Optimizer& optimizer, const TrainConfig& config,
                     const Batch& batch, const Questions& questions)
    : model_(model),
      optimizer_(optimizer),
      grad_clip_(config.grad_clip),
      inputs_(at::empty_like(batch.inputs, optimizer.parameters().device())),
      questions_{at::empty_like(questions.where, inputs_.device()),
                 at::empty_like(questions.targets, inputs_.device()),
                 questions.weights.defined() ? at::empty_like(questions.weights, inputs_.device())
                                             : at::Tensor()},
      lr_(at::zeros({}, optimizer.parameters().options())),
      found_(at::zeros({2}, optimizer.parameters().options())) {}

void FixedStep::load(const Batch& batch, const Questions& questions, double lr) {
  inputs_.copy_(batch.inputs);
  questions_.where.copy_(questions.where);
  questions_.targets.copy_(questions.targets);
  if (questions_.weights.defined()) questions_.weights.copy_(questions.weights);
  lr_.fill_(lr);
}

void FixedStep::work() {
  optimizer_.zero_grad();
  const auto loss = mean_loss(model_, inputs_, questions_);
  loss.backward();
  const auto norm = optimizer_.clip_on_device(grad_clip_);
  optimizer_.step(lr_);
  found_.copy_(at::stack({loss.detach(), norm}));
}

StepFound FixedStep::found() const {
  const auto found = found_.to(at::kCPU, at::kDouble);
  return {found[0].item<double>(), found[1].item<double>()};
}

}  // namespace difflab
