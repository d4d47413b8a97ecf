// Whole models by our kernels against the same models by library operations, with rows enough that
// every kernel is in use.
#include <torch/csrc/autograd/function.h>

#include "kernel/operation/fused_linear.h"
#include "model/attention/base/attention.h"
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
      const ModelConfig config{.d_model = 16,
                               .layers = 2,
                               .block = block,
                               .norm_eps = 0.05,  // a norm with another one shows
                               .attention = attention};
      const auto plain = outcome(config, Kernels::kPlain);
      for (const auto kernels : {Kernels::kFused, Kernels::kFlash1, Kernels::kFlash2}) {
        const auto found = outcome(config, kernels);
        CATCH_CHECK(testing::relative_error(found.loss, plain.loss) < 1e-12);
        CATCH_REQUIRE(found.gradients.size() == plain.gradients.size());
        for (std::size_t i = 0; i < found.gradients.size(); ++i) {
          CATCH_INFO("parameter " << i);
          CATCH_CHECK((found.gradients[i] - plain.gradients[i]).abs().max().item<double>() < 1e-11);
        }
      }
    }
  }
}

// Fused attentions that lie behind a result.
int calls_behind(const at::Tensor& y) {
  int calls = 0;
  std::set<torch::autograd::Node*> seen{nullptr};
  std::vector<torch::autograd::Node*> open{y.grad_fn().get()};
  while (!open.empty()) {
    auto* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    calls += node->name().find("FusedAttention") != std::string::npos;
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
  return calls;
}

CATCH_TEST_CASE(
    "the official forms of DIFF take a call for each map, and for each half of values") {
  const auto calls = [](const AttentionConfig& config, Kernels kernels) {
    const AttentionShape shape{.d_model = 32, .kernels = kernels};
    const auto attention = std::visit([&](const auto& kind) { return kind.build(shape); }, config);
    const auto rotary = Rotary::table(9, attention->rotary_dim(), 10'000, at::zeros({}));
    return calls_behind(attention->forward(at::randn({2, 9, 32}), rotary));
  };
  const AttentionConfig v1 = DifferentialAttentionConfig{.heads = 2}, v2 = DifferentialV2Config{};
  CATCH_CHECK(calls(v1, Kernels::kPlain) == 0);
  CATCH_CHECK(calls(v1, Kernels::kFused) == 1);
  CATCH_CHECK(calls(v1, Kernels::kFlash1) == 2);
  CATCH_CHECK(calls(v1, Kernels::kFlash2) == 4);
  for (const auto kernels : {Kernels::kFused, Kernels::kFlash1, Kernels::kFlash2}) {
    CATCH_CHECK(calls(v2, kernels) == 1);
    CATCH_CHECK(calls(SoftmaxAttentionConfig{}, kernels) == 1);
    CATCH_CHECK(calls(ExclusiveAttentionConfig{}, kernels) == 1);
  }
}

// Of V2 the official form is one call for all 2H query heads, then the difference of its outputs.
CATCH_TEST_CASE("the official form of DIFF V2 is not that of one difference of maps") {
  const auto output = [](Kernels kernels) {
    at::manual_seed(3);
    const auto attention =
        DifferentialV2Config{.heads = 4, .kv_heads = 2}.build({.d_model = 64, .kernels = kernels});
    const auto rotary = Rotary::table(40, 16, 10'000, at::zeros({}));
    return attention->forward(at::randn({1, 40, 64}), rotary).detach();
  };
  const auto fused = output(Kernels::kFused), official = output(Kernels::kFlash1);
  CATCH_CHECK_FALSE(at::equal(fused, official));  // the rounding tells
  CATCH_CHECK(at::equal(official, output(Kernels::kFlash2)));
  CATCH_CHECK(testing::relative_error(official, fused) < 1e-5);
}

}  // namespace
}  // namespace difflab
