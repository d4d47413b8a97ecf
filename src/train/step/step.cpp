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

}  // namespace difflab
