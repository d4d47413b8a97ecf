// Models asked with few of their weights, beside loops and beside logits that are taken away.

#include <limits>

#include "evaluate/head_models.h"
#include "evaluate/heads/prune.h"
#include "model/score.h"
#include "support/evaluation_cells.h"

namespace difflab {
namespace {

using testing::cells_with, testing::dumped, testing::evaluate, testing::kHeadKinds;
using testing::kHeadNeedles, testing::kHeadSamples, testing::Matrix, testing::only, testing::uneven;

CATCH_TEST_CASE("weights are dropped below a part of the largest in their row, whatever the sign") {
  const auto weights = at::tensor({0.5, 0.0, 0.0,   //
                                   -0.2, 0.1, 0.0,  //
                                   0.05, 0.6, -0.3})
                           .view({1, 1, 3, 3});
  const auto kept = [&](double threshold) {
    return largest_weights(weights, threshold).to(at::kLong).flatten();
  };
  CATCH_CHECK(kept(0).equal(at::tensor({1, 0, 0, 1, 1, 0, 1, 1, 1}, at::kLong)));
  CATCH_CHECK(kept(0.1).equal(at::tensor({1, 0, 0, 1, 1, 0, 0, 1, 1}, at::kLong)));
  CATCH_CHECK(kept(0.5).equal(at::tensor({1, 0, 0, 1, 1, 0, 0, 1, 1}, at::kLong)));
  CATCH_CHECK(kept(0.51).equal(at::tensor({1, 0, 0, 1, 0, 0, 0, 1, 0}, at::kLong)));
  CATCH_CHECK(kept(1).equal(at::tensor({1, 0, 0, 1, 0, 0, 0, 1, 0}, at::kLong)));
  // The rows of the last two of three positions.
  CATCH_CHECK(largest_weights(weights.narrow(2, 1, 2), 0)
                  .to(at::kLong)
                  .flatten()
                  .equal(at::tensor({1, 1, 0, 1, 1, 1}, at::kLong)));
  const auto half = largest_weights(weights, 0.51);
  CATCH_CHECK(at::allclose(
      prune(weights, half, false).flatten(),
      at::tensor({0.5, 0.0, 0.0, -0.2, 0.0, 0.0, 0.0, 0.6, 0.0}).to(weights.scalar_type())));
  CATCH_CHECK(at::allclose(
      prune(weights, half, true).flatten(),
      at::tensor({0.5, 0.0, 0.0, -0.3, 0.0, 0.0, 0.0, 0.95, 0.0}).to(weights.scalar_type())));
}

CATCH_TEST_CASE("at threshold 0 a model is the one that is asked as it is, bit by bit") {
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    for (const auto& [name, attention] : kHeadKinds) {
      CATCH_INFO(name);
      const ModelConfig config{.d_model = 16, .layers = 2, .attention = attention};
      LanguageModel model(config, kHeadNeedles.vocab_size(), kernels);
      initialise(model, config, 5);
      model.eval();
      const auto heldout = evaluate(HeldoutConfig{.samples = 40}, model, kHeadNeedles);
      const SparseAttentionConfig sparse{.thresholds = {1e-30, 0.5}, .samples = 40};
      const auto result = evaluate(sparse, model, kHeadNeedles);
      const auto cell = cells_with(result, {{"threshold", 0.0}})[0];
      CATCH_CHECK(cell["loss"] == heldout.details["needle"]["loss"]);
      CATCH_CHECK(cell["accuracy"] == heldout.details["needle"]["accuracy"]);
      CATCH_CHECK(cell["kept"] == 1.0);
      CATCH_CHECK(only(result, {{"threshold", 1e-30}}, "kept") == 1.0);
      CATCH_CHECK(only(result, {{"threshold", 1e-30}}, "loss") ==
                  Approx(cell["loss"].get<double>()).epsilon(1e-5));
      CATCH_CHECK(only(result, {{"threshold", 0.5}}, "loss") != cell["loss"].get<double>());
    }
  }
}

CATCH_TEST_CASE("the share that is kept is counted over all weights that may be seen") {
  for (const auto& [name, attention] : kHeadKinds) {
    CATCH_INFO(name);
    auto model = uneven(attention);
    {  // what is dropped in the first layer must not reach the second
      const at::NoGradGuard no_grad;
      const char* out = name == "diff_v2" ? "o_proj" : "out_proj";
      model.named_parameters()[concat("layers.0.attn.", out, ".weight")].zero_();
    }
    const auto layers = dumped(model);
    for (const double threshold : {0.05, 0.4, 1.0}) {
      double kept = 0, all = 0;
      for (const auto& layer : layers) {
        for (const auto& heads : layer) {
          for (const auto& head : heads) {
            for (std::size_t t = 0; t < head.weights.size(); ++t) {
              double largest = 0;
              for (const double weight : head.weights[t]) {
                largest = std::max(largest, std::abs(weight));
              }
              for (std::size_t s = 0; s <= t; ++s) {
                kept += std::abs(head.weights[t][s]) >= threshold * largest ? 1 : 0;
                all += 1;
              }
            }
          }
        }
      }
      const auto result =
          evaluate(SparseAttentionConfig{.thresholds = {threshold}, .samples = kHeadSamples}, model,
                   kHeadNeedles);
      CATCH_CHECK(only(result, {{"threshold", threshold}}, "kept") ==
                  Approx(kept / all).epsilon(1e-3));
      CATCH_CHECK(kept < 0.95 * all);
    }
  }
}

CATCH_TEST_CASE("renormalised softmax weights are those without the logits that were dropped") {
  auto model = uneven(SoftmaxAttentionConfig{.heads = 4});
  const double threshold = 0.2;
  const auto result = evaluate(
      SparseAttentionConfig{
          .thresholds = {threshold}, .renormalise = true, .samples = kHeadSamples},
      model, kHeadNeedles);
  // exp(a) < threshold exp(largest), where the largest is that of the row.
  std::vector<std::unique_ptr<WithLogitHook>> hooks;
  model.for_each_attention([&](const std::string&, Attention& attention) {
    hooks.push_back(std::make_unique<WithLogitHook>(attention, [&](const at::Tensor& logits) {
      const auto least = logits.amax(-1, true) + std::log(threshold);
      return logits.masked_fill(logits < least, -std::numeric_limits<double>::infinity());
    }));
  });
  const auto batch = kHeadNeedles.build()->batch(3, Split::kTest, 0, kHeadSamples);
  const double expected = score(model, batch.inputs, batch.targets).loss();
  hooks.clear();
  const double dense = score(model, batch.inputs, batch.targets).loss();
  CATCH_CHECK(only(result, {{"threshold", threshold}}, "loss") == Approx(expected).epsilon(1e-5));
  CATCH_CHECK(std::abs(expected - dense) > 1e-3);
  const auto plain =
      evaluate(SparseAttentionConfig{.thresholds = {threshold}, .samples = kHeadSamples}, model,
               kHeadNeedles);
  CATCH_CHECK(std::abs(only(plain, {{"threshold", threshold}}, "loss") - expected) > 1e-3);
}

CATCH_TEST_CASE("the weights needed are the fewest that lose no more accuracy than is allowed") {
  // Whoever was not trained is right now and then, with other weights at other places.
  RecallConfig recall;
  recall.length = 24;
  recall.tokens = kHeadNeedles.vocab_size();
  bool some = false;
  for (const auto& [name, attention] : kHeadKinds) {
    CATCH_INFO(name);
    auto model = uneven(attention, 1.0);
    for (const double tolerance : {0.0, 0.005, 1.0}) {
      const SparseAttentionConfig config{
          .thresholds = {1.0, 0.02, 0.3, 0.1, 0.6}, .tolerance = tolerance, .samples = 60};
      const auto result = evaluate(config, model, recall);
      const double all = only(result, {{"threshold", 0.0}}, "accuracy");
      CATCH_CHECK(result.metrics["accuracy_all_weights"] == all);
      double fewest = 1;
      for (const auto& cell : cells_with(result, {})) {
        if (cell["accuracy"].get<double>() < all - tolerance) continue;
        fewest = std::min(fewest, cell["kept"].get<double>());
      }
      const double least = only(result, {{"threshold", 1.0}}, "kept");
      CATCH_CHECK(result.metrics["weights_needed"] == fewest);
      CATCH_CHECK((tolerance < 1 || fewest == least));
      some = some || (fewest < 1 && fewest > least);
    }
  }
  CATCH_CHECK(some);
}

}  // namespace
}  // namespace difflab
