#include "train/step/optimizer.h"

#include <numbers>

#include "support/catch.h"
#include "support/tensors.h"
#include "train/settings/train_config.h"

namespace difflab {
namespace {

struct Two : torch::nn::Module {
  Two() {
    a = register_parameter("a", at::tensor({1.0, -2.0, 3.0}, at::kDouble));
    b = register_parameter("b", at::tensor({0.5}, at::kDouble));
  }
  at::Tensor a, b;
};

CATCH_TEST_CASE("AdamW takes the steps of its equations") {
  // Loshchilov & Hutter 2019, algorithm 2, number by number, on loss = Σ a² + 3 b².
  const TrainConfig config{.beta1 = 0.8, .beta2 = 0.9, .adam_eps = 1e-3, .weight_decay = 0.2};
  Two model;
  Optimizer optimizer(model, config);
  std::vector<double> p{1, -2, 3, 0.5}, m(4), v(4);
  for (int t = 1; t <= 5; ++t) {
    const double lr = 0.1 / t;
    optimizer.zero_grad();
    (model.a.square().sum() + 3 * model.b.square().sum()).backward();
    optimizer.step(lr);
    for (std::size_t i = 0; i < 4; ++i) {
      const double g = (i < 3 ? 2 : 6) * p[i];
      p[i] *= 1 - lr * 0.2;
      m[i] = 0.8 * m[i] + 0.2 * g;
      v[i] = 0.9 * v[i] + 0.1 * g * g;
      const double m_hat = m[i] / (1 - std::pow(0.8, t)), v_hat = v[i] / (1 - std::pow(0.9, t));
      p[i] -= lr * m_hat / (std::sqrt(v_hat) + 1e-3);
    }
  }
  CATCH_CHECK(testing::relative_error(at::cat({model.a, model.b}), at::tensor(p, at::kDouble)) <
              1e-12);
}

CATCH_TEST_CASE("clipping bounds the global norm and reports the one before") {
  Two model;
  Optimizer optimizer(model, {});
  const auto set = [&] {
    optimizer.zero_grad();
    (3 * model.a.select(0, 0) + 4 * model.b.select(0, 0)).backward();
  };
  set();
  CATCH_CHECK(optimizer.clip(1.0) == Approx(5.0));
  CATCH_CHECK(model.a.grad()[0].item<double>() == Approx(0.6).epsilon(1e-5));
  CATCH_CHECK(model.b.grad()[0].item<double>() == Approx(0.8).epsilon(1e-5));
  set();
  CATCH_CHECK(optimizer.clip(10.0) == Approx(5.0));
  CATCH_CHECK(model.b.grad()[0].item<double>() == 4.0);
  set();
  CATCH_CHECK(optimizer.clip(0.0) == Approx(5.0));  // 0 turns clipping off
  CATCH_CHECK(model.b.grad()[0].item<double>() == 4.0);
}

CATCH_TEST_CASE("the learning rate warms up linearly and falls along half a cosine") {
  const TrainConfig config{.steps = 101, .lr = 2.0, .final_lr_ratio = 0.1, .warmup_steps = 10};
  CATCH_CHECK(learning_rate(config, 0) == Approx(0.2));
  CATCH_CHECK(learning_rate(config, 9) == Approx(2.0));
  CATCH_CHECK(learning_rate(config, 10) == Approx(2.0));
  CATCH_CHECK(learning_rate(config, 55) == Approx(2.0 * (0.1 + 0.9 / 2)));  // half way, 45 of 90
  CATCH_CHECK(learning_rate(config, 100) == Approx(0.2));
  const TrainConfig shortest{.steps = 1, .lr = 1.0, .warmup_steps = 0};
  CATCH_CHECK(learning_rate(shortest, 0) == Approx(1.0));
}

}  // namespace
}  // namespace difflab
