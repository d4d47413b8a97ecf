// Whole models by our kernels against the same models by library operations, with rows enough that
// every kernel is in use.
#include <ATen/ATen.h>

#include "kernel/operation/fused_linear.h"
#include "model/initialise.h"
#include "model/language_model.h"
#include "model/score.h"
#include "support/attention_variants.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

struct Outcome {
  at::Tensor loss;
  std::vector<at::Tensor> gradients;
};

Outcome outcome(const ModelConfig& config, Kernels kernels) {
  constexpr std::int64_t kVocab = 40;
  at::manual_seed(1);  // the same tokens for both
  const auto tokens = at::randint(kVocab, {4, 25}, at::kLong);
  LanguageModel model(config, kVocab, kernels);
  initialise(model, config, 0);
  model.to(at::kDouble);
  auto loss = mean_loss(model, tokens.narrow(1, 0, 24), tokens.narrow(1, 1, 24));
  loss.backward();
  Outcome found{loss.detach(), {}};
  for (const auto& parameter : model.parameters()) found.gradients.push_back(parameter.grad());
  return found;
}

CATCH_TEST_CASE("loss and gradients of a model do not depend on the kernels") {
  CATCH_REQUIRE(kernel::takes_linear(at::ones({4, 24, 16}), at::ones({8, 16})));
  for (const auto& [name, attention] : testing::attention_variants()) {
    for (const auto block : {BlockKind::kLlama, BlockKind::kNano}) {
      CATCH_INFO(name << (block == BlockKind::kLlama ? ", llama" : ", nano"));
      const ModelConfig config{.d_model = 16, .layers = 2, .block = block, .attention = attention};
      const auto plain = outcome(config, Kernels::kPlain), fused = outcome(config, Kernels::kFused);
      CATCH_CHECK(testing::relative_error(fused.loss, plain.loss) < 1e-12);
      CATCH_REQUIRE(fused.gradients.size() == plain.gradients.size());
      for (std::size_t i = 0; i < fused.gradients.size(); ++i) {
        CATCH_INFO("parameter " << i);
        const auto error = (fused.gradients[i] - plain.gradients[i]).abs().max().item<double>();
        CATCH_CHECK(error < 1e-11);
      }
    }
  }
}

}  // namespace
}  // namespace difflab
