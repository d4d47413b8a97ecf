// The step that can be recorded against the step that is done one by one.

#include "train/step/step.h"

#include "model/language_model.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

struct Trained {
  LanguageModel model;
  Optimizer optimizer;

  Trained(const TrainConfig& config, Kernels kernels)
      : model(initialised(kernels)), optimizer(model, config) {}

  static LanguageModel initialised(Kernels kernels) {
    const ModelConfig config{.d_model = 16, .layers = 2};
    LanguageModel model(config, /*vocab_size=*/30, kernels);
    initialise(model, config, 0);
    return model;
  }
};

// Six questions at other places each time.
Batch batch_of(int step) {
  at::manual_seed(step);
  const auto inputs = at::randint(30, {4, 20}, at::kLong);
  const auto asked = at::rand({80}).argsort().argsort().lt(6).view({4, 20});
  return {inputs, at::where(asked, at::randint(30, {4, 20}, at::kLong), at::Scalar(kIgnore)),
          /*parts=*/{1, 3}};
}

CATCH_TEST_CASE("a step that asks the device nothing takes the steps of the other") {
  for (const auto& config : {TrainConfig{.grad_clip = 0}, TrainConfig{.grad_clip = 0.5},
                             TrainConfig{.loss = {LossPer::kPart}}}) {
    for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
      CATCH_INFO("grad_clip " << config.grad_clip);
      Trained one(config, kernels), other(config, kernels);
      const auto plain = plain_step(one.model, one.optimizer, config);
      const auto first = batch_of(0);
      FixedStep fixed(other.model, other.optimizer, config, first,
                      questions_of(first, config.loss));
      for (int step = 0; step < 20; ++step) {
        const auto batch = batch_of(step);
        const double lr = 0.01 / (1 + step);
        const auto found = plain->run(batch, lr);
        fixed.load(batch, questions_of(batch, config.loss), lr);
        fixed.work();
        CATCH_CHECK(fixed.found().loss == Approx(found.loss).epsilon(1e-5));
        CATCH_CHECK(fixed.found().grad_norm == Approx(found.grad_norm).epsilon(1e-4));
      }
      CATCH_CHECK(
          testing::relative_error(other.optimizer.parameters(), one.optimizer.parameters()) < 1e-4);
    }
  }
}

CATCH_TEST_CASE("a plain step that has diverged leaves the parameters as they were") {
  const TrainConfig config;
  Trained trained(config, Kernels::kFused);
  trained.model.parameters().front().data().fill_(NAN);
  const auto before = trained.optimizer.parameters().clone();
  const auto found = plain_step(trained.model, trained.optimizer, config)->run(batch_of(0), 0.1);
  CATCH_CHECK(std::isnan(found.loss));
  CATCH_CHECK(at::equal(trained.optimizer.parameters().nan_to_num(7), before.nan_to_num(7)));
  for (const auto& buffer : trained.optimizer.buffers()) {
    CATCH_CHECK((buffer.name.empty() || buffer.flat.count_nonzero().item<std::int64_t>() == 0));
  }
}

}  // namespace
}  // namespace difflab
