// What evaluations see inside models of several layers and heads, against sums over all of them.

#include "evaluate/head_models.h"
#include "support/evaluation_cells.h"

namespace difflab {
namespace {

using testing::cells_with, testing::evaluate, testing::kHeadNeedles, testing::only, testing::uneven;

// Where position s of a sequence of 20 tokens lies, whose last two are "?" and the key.
std::string region(const at::Tensor& inputs, std::int64_t s) {
  std::int64_t key = 1;
  while (!inputs[key].equal(inputs[19])) ++key;
  if (s == 0) return "begin";
  if (s >= 18) return "question";
  return s < key ? "before" : s <= key + 1 ? "answer" : "after";
}

CATCH_TEST_CASE("attention is divided among regions head by head, then averaged") {
  for (const auto& [kind, attention] : testing::kHeadKinds) {
    CATCH_INFO(kind);
    auto model = uneven(attention);
    const auto result =
        evaluate(AttentionAllocationConfig{.depths = {60}, .samples = 9}, model, kHeadNeedles);
    auto needles = kHeadNeedles;
    needles.depth = 60;
    const auto inputs = needles.build()->batch(3, Split::kTest, 0, 9).inputs;
    const auto layers = testing::dump_heads(model, inputs);
    CATCH_REQUIRE(layers.size() == 2);
    std::map<std::string, double> all;
    for (std::size_t layer = 0; layer < 2; ++layer) {
      std::map<std::string, double> share, weight;
      for (std::size_t b = 0; b < 9; ++b) {
        const auto& heads = layers[layer][b];
        CATCH_REQUIRE(heads.size() >= 2);
        const double part = 1 / (9. * static_cast<double>(heads.size()));
        for (const auto& head : heads) {
          const auto& row = head.weights.back();
          double sizes = 0;
          for (const double w : row) sizes += std::abs(w);
          for (std::size_t s = 0; s < 20; ++s) {
            const auto where =
                region(inputs[static_cast<std::int64_t>(b)], static_cast<std::int64_t>(s));
            share[where] += part * std::abs(row[s]) / sizes;
            weight[where] += part * row[s];
          }
        }
      }
      for (const auto& [where, value] : share) {
        CATCH_INFO("layer " << layer << ", " << where);
        const Json cell{{"layer", layer}, {"region", where}};
        CATCH_CHECK(only(result, cell, "share") == Approx(value).epsilon(1e-4));
        CATCH_CHECK(only(result, cell, "weight") == Approx(weight[where]).epsilon(1e-4));
        all[where] += value / 2;
      }
    }
    CATCH_CHECK(all.size() == 5);
    for (const auto& [where, value] : all) {
      CATCH_CHECK(only(result, {{"layer", "all"}, {"region", where}}, "share") ==
                  Approx(value).epsilon(1e-4));
    }
  }
}

CATCH_TEST_CASE("what attention adds is what the stream has more behind it, in every layer") {
  const ModelConfig config{
      .d_model = 16, .layers = 2, .attention = DifferentialAttentionConfig{.heads = 2}};
  LanguageModel trained(config, kHeadNeedles.vocab_size());
  initialise(trained, config, 99);
  const auto result = evaluate(InitialGradientsConfig{.samples = 12}, trained, kHeadNeedles, 4);
  // Without the second half of its blocks a layer adds its attention alone.
  LanguageModel twin(config, kHeadNeedles.vocab_size());
  initialise(twin, config, 4);
  const at::NoGradGuard no_grad;
  twin.named_parameters()["layers.0.ffn.down.weight"].zero_();
  const auto inputs = kHeadNeedles.build()->batch(4, Split::kTrain, 0, 12).inputs;
  twin.observe(inputs, [&](const LayerView& view) {
    if (view.layer != 0) return;
    const double added = (view.output - view.stream).square().mean().sqrt().item<double>();
    CATCH_CHECK(only(result, {{"part", "output"}, {"state", "initial"}, {"layer", 0}}, "rms") ==
                Approx(added).epsilon(1e-4));
  });
  for (const auto& [state, metric] :
       {std::pair{"initial", "attention_rms_initial"}, {"trained", "attention_rms"}}) {
    double sum = 0;
    for (const auto& cell : cells_with(result, {{"part", "output"}, {"state", state}})) {
      sum += cell["rms"].get<double>();
    }
    CATCH_CHECK(result.metrics[metric].get<double>() == Approx(sum / 2));
  }
}

CATCH_TEST_CASE("hidden states are those behind each layer, the last one's too") {
  auto model = uneven(SoftmaxAttentionConfig{.heads = 4});
  {
    const at::NoGradGuard no_grad;
    model.named_parameters()["layers.1.ffn.down.weight"].mul_(50);
  }
  const auto result = evaluate(ActivationOutliersConfig{{.samples = 9}}, model, kHeadNeedles);
  const auto inputs = kHeadNeedles.build()->batch(3, Split::kTest, 0, 9).inputs;
  const at::NoGradGuard no_grad;
  double largest = 0, of_inputs = 0;
  model.observe(inputs, [&](const LayerView& view) {
    largest = std::max(largest, view.output.abs().max().item<double>());
    of_inputs = std::max(of_inputs, view.stream.abs().max().item<double>());
  });
  CATCH_REQUIRE(largest > 2 * of_inputs);
  CATCH_CHECK(result.metrics["hidden_top1"].get<double>() == Approx(largest));
}

CATCH_TEST_CASE("every head has its own λ, its spread and its range") {
  auto model = uneven(DifferentialV2Config{.heads = 2});
  const auto result = evaluate(LambdaDistributionConfig{{.samples = 9}, 4}, model, kHeadNeedles);
  const auto inputs = kHeadNeedles.build()->batch(3, Split::kTest, 0, 9).inputs;
  const at::NoGradGuard no_grad;
  model.observe(inputs, [&](const LayerView& view) {
    const auto x = view.attention_input.flatten(0, 1);  // [180, D]
    const auto projection = concat("layers.", view.layer, ".attn.lambda_proj.weight");
    const auto lambdas = x.matmul(model.named_parameters()[projection].t()).sigmoid();
    const auto cell = [&](std::int64_t head, const char* key) {
      return only(result, {{"part", "head"}, {"layer", view.layer}, {"head", head}}, key);
    };
    for (std::int64_t head = 0; head < 2; ++head) {
      CATCH_INFO("layer " << view.layer << ", head " << head);
      const auto own = lambdas.select(1, head);
      const auto sorted = std::get<0>(own.sort());
      CATCH_CHECK(cell(head, "mean") == Approx(own.mean().item<double>()).epsilon(1e-4));
      CATCH_CHECK(cell(head, "sd") == Approx(own.std(false).item<double>()).epsilon(1e-4));
      CATCH_CHECK(cell(head, "low") == Approx(sorted[9].item<double>()).epsilon(1e-4));
      CATCH_CHECK(cell(head, "high") == Approx(sorted[170].item<double>()).epsilon(1e-4));
    }
    CATCH_CHECK(cell(0, "mean") != cell(1, "mean"));
    for (const auto& bin : cells_with(result, {{"part", "histogram"}, {"layer", view.layer}})) {
      const double low = bin["low"], high = bin["high"];
      const bool is_last = std::abs(high - lambdas.max().item<double>()) < 1e-6;
      const auto inside =
          lambdas.ge(low - 1e-7)
              .logical_and(is_last ? lambdas.le(high + 1e-7) : lambdas.lt(high - 1e-7));
      CATCH_CHECK(bin["share"].get<double>() ==
                  Approx(inside.to(at::kDouble).mean().item<double>()).margin(1.5 / 360));
    }
  });
}

}  // namespace
}  // namespace difflab
