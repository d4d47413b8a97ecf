// Blocks whose values are computed once more on the way back against blocks that keep them.
#include <ATen/ATen.h>

#include "model/language_model.h"
#include "model/score.h"
#include "support/catch.h"

namespace difflab {
namespace {

constexpr std::int64_t kTokens = 30;

struct Recomputed {
  std::string name;
  ModelConfig model;
  Kernels kernels = Kernels::kFused;
  Precision precision = Precision::kFloat32;
  int asked = 60;  // of the 4 · 15 places
};

std::vector<Recomputed> recomputed_ways() {
  const AttentionConfig transformer = SoftmaxAttentionConfig{.heads = 4},
                        v1 = DifferentialAttentionConfig{.heads = 2},
                        v2 = DifferentialV2Config{.heads = 4};
  const auto of = [](const AttentionConfig& attention, double dropout = 0,
                     BlockKind block = BlockKind::kLlama) {
    return ModelConfig{
        .d_model = 32, .layers = 3, .block = block, .dropout = dropout, .attention = attention};
  };
  return {{"Transformer", of(transformer)},
          {"DIFF", of(v1)},
          {"DIFF V2", of(v2)},
          {"plain", of(v1), Kernels::kPlain},
          {"asked at few places", of(v1), Kernels::kFused, Precision::kFloat32, 5},
          {"dropout", of(v1, 0.3)},
          {"nanoGPT, dropout, plain", of(v1, 0.3, BlockKind::kNano), Kernels::kPlain},
          {"bfloat16", of(v2), Kernels::kPlain, Precision::kBfloat16}};
}

// The loss, then the gradient of every parameter; `drawn` is what the library draws next.
std::vector<at::Tensor> loss_and_gradients(const Recomputed& way, bool recompute,
                                           at::Tensor& drawn) {
  LanguageModel model(way.model, kTokens, way.kernels);
  initialise(model, way.model, 0);
  model.set_precision(way.precision);
  model.recompute_blocks(recompute);
  at::manual_seed(1);
  const auto inputs = at::randint(kTokens, {4, 15}, at::kLong);
  const auto order = at::randperm(60);
  const auto targets = at::where(order.lt(way.asked).view({4, 15}),
                                 at::randint(kTokens, {4, 15}, at::kLong), at::Scalar(-1));
  const auto loss = mean_loss(model, inputs, targets);
  loss.backward();
  drawn = at::rand({1});
  std::vector<at::Tensor> all{loss.detach()};
  for (const auto& parameter : model.parameters()) all.push_back(parameter.grad());
  return all;
}

CATCH_TEST_CASE("blocks that are computed once more have the same gradients, bit for bit") {
  for (const auto& way : recomputed_ways()) {
    CATCH_INFO(way.name);
    at::Tensor next, next_again;
    const auto kept = loss_and_gradients(way, false, next);
    const auto again = loss_and_gradients(way, true, next_again);
    CATCH_REQUIRE(kept.size() == again.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      CATCH_INFO("number " << i);
      CATCH_REQUIRE(again[i].defined() == kept[i].defined());
      if (kept[i].defined()) CATCH_CHECK(again[i].equal(kept[i]));
    }
    CATCH_CHECK(next_again.equal(next));  // nor do later draws change
  }
}

CATCH_TEST_CASE("a graph that is gone through twice has twice the gradients") {
  const auto way = recomputed_ways()[1];
  LanguageModel model(way.model, kTokens, way.kernels);
  initialise(model, way.model, 0);
  model.recompute_blocks(true);
  const auto inputs = at::randint(kTokens, {2, 15}, at::kLong);
  const auto loss = mean_loss(model, inputs, inputs);
  loss.backward({}, /*retain_graph=*/true);
  std::vector<at::Tensor> once;
  for (const auto& parameter : model.parameters()) once.push_back(parameter.grad().clone());
  loss.backward();
  for (std::size_t i = 0; i < once.size(); ++i) {
    CATCH_CHECK(at::allclose(model.parameters()[i].grad(), 2 * once[i], 1e-4, 1e-7));
  }
  CATCH_CHECK_THROWS(loss.backward());  // it is not kept any more
}

}  // namespace
}  // namespace difflab
