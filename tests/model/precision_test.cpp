// bfloat16 where the library's autocast puts it, on the CPU, where it can be tried without a GPU.
#include <ATen/autocast_mode.h>

#include "model/language_model.h"
#include "model/score.h"
#include "support/attention_variants.h"
#include "support/catch.h"
#include "support/rounded_gradients.h"
#include "support/tensors.h"

namespace difflab {
namespace {

constexpr std::int64_t kPrecisionVocab = 40;

struct Trial {
  std::shared_ptr<LanguageModel> model;
  at::Tensor inputs, targets;

  Trial(const ModelConfig& config, Precision precision)
      : model(std::make_shared<LanguageModel>(config, kPrecisionVocab, Kernels::kPlain)) {
    at::manual_seed(1);  // the same tokens for all
    const auto tokens = at::randint(kPrecisionVocab, {4, 25}, at::kLong);
    inputs = tokens.narrow(1, 0, 24);
    targets = tokens.narrow(1, 1, 24);
    initialise(*model, config, 0);
    model->set_precision(precision);
  }
  at::Tensor loss() const { return mean_loss(*model, inputs, targets); }
  std::map<std::string, at::Tensor> gradients() const {
    loss().backward();
    std::map<std::string, at::Tensor> all;
    for (const auto& parameter : model->named_parameters()) {
      CATCH_CHECK(parameter.value().grad().scalar_type() == at::kFloat);
      all[parameter.key()] = parameter.value().grad();
    }
    return all;
  }
};

CATCH_TEST_CASE("a model in bfloat16 is the same model with fewer digits") {
  for (const auto& [name, attention] : testing::attention_variants()) {
    for (const auto block : {BlockKind::kLlama, BlockKind::kNano}) {
      CATCH_INFO(name << (block == BlockKind::kLlama ? ", llama" : ", nano"));
      const ModelConfig config{.d_model = 32, .layers = 2, .block = block, .attention = attention};
      const Trial exact(config, Precision::kFloat32), rounded(config, Precision::kBfloat16);
      const auto loss = rounded.loss();
      CATCH_CHECK(loss.scalar_type() == at::kFloat);
      const auto error = testing::relative_error(loss.detach(), exact.loss().detach());
      CATCH_CHECK(error > 0);
      CATCH_CHECK(error < 0.01);
      const auto expected = exact.gradients();
      for (const auto& [parameter, gradient] : rounded.gradients()) {
        CATCH_INFO(parameter);
        const auto apart = (gradient - expected.at(parameter)).abs().max().item<double>();
        CATCH_CHECK(apart < testing::rounded_gradient_bound(parameter, expected.at(parameter)));
      }
      CATCH_CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
    }
  }
}

CATCH_TEST_CASE("a model in bfloat16 sees that its parameters have changed") {
  const Trial trial({.d_model = 32, .layers = 1}, Precision::kBfloat16);
  const auto before = trial.loss().item<double>();
  CATCH_CHECK(trial.loss().item<double>() == before);
  const at::NoGradGuard no_grad;
  for (auto& parameter : trial.model->parameters()) parameter.mul_(1.5);
  CATCH_CHECK(trial.loss().item<double>() != before);
}

}  // namespace
}  // namespace difflab
