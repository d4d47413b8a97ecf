#include "train/step/step.h"

#include <ATen/ATen.h>

#include <cmath>

#include "model/language_model.h"
#include "train/step/loss_weights.h"

namespace difflab {
namespace {

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

std::unique_ptr<Step> plain_step(LanguageModel& model, Optimizer& optimizer,
                                 const TrainConfig& config) {
  return std::make_unique<PlainStep>(model, optimizer, config);
}

}  // namespace difflab
