#include "train/step.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/language_model.h"

namespace difflab {
namespace {

class PlainStep final : public Step {
 public:
  PlainStep(LanguageModel& model, Optimizer& optimizer, const TrainConfig& config)
      : model_(model), optimizer_(optimizer), grad_clip_(config.grad_clip) {}

  StepFound run(const Batch& batch, double lr) override {
    const auto device = optimizer_.parameters().device();
    optimizer_.zero_grad();
    const auto questions = Questions::of(batch.targets).to(device);
    const auto loss = mean_loss(model_, batch.inputs.to(device), questions);
    loss.backward();
    const double norm = optimizer_.clip(grad_clip_);
    const StepFound found{loss.item<double>(), norm};
    if (std::isfinite(found.loss) && std::isfinite(norm)) optimizer_.step(lr);
    return found;
  }

 private:
  LanguageModel& model_;
  Optimizer& optimizer_;
  double grad_clip_;
};

}  // namespace

std::unique_ptr<Step> plain_step(LanguageModel& model, Optimizer& optimizer,
                                 const TrainConfig& config) {
  return std::make_unique<PlainStep>(model, optimizer, config);
}

}  // namespace difflab
