#include "train/step/step.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/language_model.h"

namespace difflab {
namespace {

// The group of each sequence, [B].
at::Tensor groups_of(const Batch& batch, LossPer per) {
  const auto sequences = batch.inputs.size(0);
  if (per == LossPer::kSequence) return at::arange(sequences, at::kLong);
  const auto groups = at::zeros({sequences}, at::kLong);
  std::int64_t begin = 0;
  for (std::size_t part = 0; part < batch.parts.size(); ++part) {
    groups.narrow(0, begin, batch.parts[part]).fill_(static_cast<std::int64_t>(part));
    begin += batch.parts[part];
  }
  return groups;
}

class PlainStep final : public Step {
 public:
  PlainStep(LanguageModel& model, Optimizer& optimizer, const TrainConfig& config)
      : model_(model), optimizer_(optimizer), config_(config) {}

  StepFound run(const Batch& batch, double lr) override {
    const auto device = optimizer_.parameters().device();
    optimizer_.zero_grad();
    const auto questions = questions_of(batch, config_.loss).to(device);
    const auto loss = mean_loss(model_, batch.inputs.to(device), questions);
    loss.backward();
    const double norm = optimizer_.clip(config_.grad_clip);
    const StepFound found{loss.item<double>(), norm};
    if (std::isfinite(found.loss) && std::isfinite(norm)) optimizer_.step(lr);
    return found;
  }

 private:
  LanguageModel& model_;
  Optimizer& optimizer_;
  const TrainConfig& config_;
};

}  // namespace

Questions questions_of(const Batch& batch, const LossConfig& loss) {
  auto questions = Questions::of(batch.targets);
  if (loss.per == LossPer::kTarget) return questions;
  const auto sequence = questions.where.div(batch.targets.size(1), "floor");  // [n]
  const auto group = groups_of(batch, loss.per).index_select(0, sequence);    // [n]
  const auto sizes = at::bincount(group);                                     // targets of each
  const auto asked = sizes.gt(0).sum().to(at::kDouble);                       // groups that ask
  const auto targets = static_cast<double>(group.size(0));
  questions.weights = targets / (asked * sizes.index_select(0, group).to(at::kDouble));
  return questions;
}

std::unique_ptr<Step> plain_step(LanguageModel& model, Optimizer& optimizer,
                                 const TrainConfig& config) {
  return std::make_unique<PlainStep>(model, optimizer, config);
}

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
