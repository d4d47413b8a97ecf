// What model.init and model.embedding_scale say, beside the defaults (initialise_test.cpp).
#include <ATen/ATen.h>

#include "model/language_model.h"
#include "support/attention_variants.h"
#include "support/catch.h"

namespace difflab {
namespace {

constexpr std::int64_t kD = 64, kLayers = 8, kV = 300;

// The root mean square of each parameter with two dimensions, of layer 0 where layers have it.
std::map<std::string, double> sizes_with(
    const InitConfig& init, std::optional<double> std = {},
    const AttentionConfig& attention = DifferentialAttentionConfig{.heads = 2},
    std::int64_t layers = kLayers) {
  const ModelConfig config{
      .d_model = kD, .layers = layers, .init_std = std, .init = init, .attention = attention};
  LanguageModel model(config, kV);
  initialise(model, config, 1);
  std::map<std::string, double> sizes;
  for (const auto& parameter : model.named_parameters()) {
    const auto& value = parameter.value();
    if (value.dim() == 2) {
      sizes[parameter.key()] = value.detach().square().mean().sqrt().item<double>();
    }
  }
  return sizes;
}

double uniform_size(double in) { return 1 / std::sqrt(3 * in); }

CATCH_TEST_CASE("each rule of model.init changes what it names and nothing else") {
  const std::map<std::string, double> plain{
      {"tok_embeddings.weight", 1 / std::sqrt(1.0 * kD)},
      {"layers.0.attn.q_proj.weight", uniform_size(kD)},
      {"layers.0.attn.k_proj.weight", uniform_size(kD)},
      {"layers.0.attn.v_proj.weight", uniform_size(kD)},
      {"layers.0.attn.out_proj.weight", uniform_size(kD)},
      {"layers.0.ffn.gate.weight", uniform_size(kD)},
      {"layers.0.ffn.down.weight", uniform_size(192)},  // 8D/3 rounded up to 32
      {"output.weight", uniform_size(kD)}};
  const auto check = [&](const InitConfig& init, std::map<std::string, double> changed) {
    const auto sizes = sizes_with(init);
    for (const auto& [name, usual] : plain) {
      CATCH_INFO(name);
      const auto other = changed.find(name);
      const double expected = other != changed.end() ? other->second : usual;
      CATCH_CHECK(sizes.at(name) == Approx(expected).epsilon(0.05));
    }
  };
  const double small = 1 / std::sqrt(2.0 * kLayers);
  const auto xavier = [](double in, double out) { return std::sqrt(2 / (in + out)); };
  check({}, {});
  check({.embedding = EmbeddingInit::kUnit}, {{"tok_embeddings.weight", 1}});
  check({.matrices = MatrixInit::kXavier}, {{"layers.0.attn.q_proj.weight", xavier(kD, kD)},
                                            {"layers.0.attn.k_proj.weight", xavier(kD, kD)},
                                            {"layers.0.attn.v_proj.weight", xavier(kD, kD)},
                                            {"layers.0.attn.out_proj.weight", xavier(kD, kD)},
                                            {"layers.0.ffn.gate.weight", xavier(kD, 192)},
                                            {"layers.0.ffn.down.weight", xavier(192, kD)},
                                            {"output.weight", xavier(kD, kV)}});
  check({.qkv_gain = 0.25}, {{"layers.0.attn.q_proj.weight", uniform_size(kD) / 4},
                             {"layers.0.attn.k_proj.weight", uniform_size(kD) / 4},
                             {"layers.0.attn.v_proj.weight", uniform_size(kD) / 4}});
  check({.residual = ResidualInit::kDepth},
        {{"layers.0.attn.out_proj.weight", uniform_size(kD) * small},
         {"layers.0.ffn.down.weight", uniform_size(192) * small}});
  check({.output = OutputInit::kInverseSqrtWidth}, {{"output.weight", 1 / std::sqrt(1.0 * kD)}});
  check({.output = OutputInit::kZero}, {{"output.weight", 0}});
}

// What it is called differs between the official files.
CATCH_TEST_CASE("residual: depth narrows the last projection of every attention") {
  for (const auto& [name, attention] : testing::attention_variants()) {
    const auto usual = sizes_with({}, {}, attention, 3);
    const auto narrowed = sizes_with({.residual = ResidualInit::kDepth}, {}, attention, 3);
    int last = 0;
    for (const auto& [parameter, size] : usual) {
      CATCH_INFO(name << ": " << parameter);
      const bool is_last =
          parameter.ends_with(".out_proj.weight") || parameter.ends_with(".o_proj.weight");
      last += is_last ? 1 : 0;
      const double factor =
          is_last || parameter.ends_with("ffn.down.weight") ? 1 / std::sqrt(6.0) : 1;
      CATCH_CHECK(narrowed.at(parameter) == Approx(size * factor));
    }
    CATCH_CHECK(last == 3);
  }
}

CATCH_TEST_CASE("a deviation that is given takes the place of the rule and keeps its factors") {
  const auto sizes = sizes_with({.matrices = MatrixInit::kXavier, .residual = ResidualInit::kDepth},
                                /*std=*/0.02);
  CATCH_CHECK(sizes.at("layers.0.ffn.gate.weight") == Approx(0.02).epsilon(0.05));
  CATCH_CHECK(sizes.at("layers.0.ffn.down.weight") == Approx(0.02 / 4).epsilon(0.05));
}

CATCH_TEST_CASE("embedding_scale multiplies what is looked up, and so its gradient") {
  const auto tokens = at::arange(24, at::kLong).view({2, 12});
  ModelConfig config{.d_model = 16, .layers = 1};
  const auto pass = [&](EmbeddingScale scale, double weights) {
    config.embedding_scale = scale;
    LanguageModel model(config, /*vocab_size=*/30, Kernels::kPlain);
    initialise(model, config, 1);
    model.to(at::kDouble);
    auto embedding = model.named_parameters()["tok_embeddings.weight"];
    embedding.detach().mul_(weights);
    const auto logits = model.forward(tokens);
    logits.square().sum().backward();
    return std::pair{logits.detach(), embedding.grad().clone()};
  };
  const auto [plain, gradient] = pass(EmbeddingScale(), 4);
  for (const auto scale : {EmbeddingScale(4), EmbeddingScale::sqrt_width()}) {
    const auto [logits, by_scale] = pass(scale, 1);
    CATCH_CHECK(at::allclose(logits, plain, 1e-12, 1e-12));
    CATCH_CHECK(at::allclose(by_scale, 4 * gradient, 1e-10, 1e-12));
  }
  CATCH_CHECK(config::Value(2.5) == EmbeddingScale(2.5).to_value());
  for (const auto& wrong : {config::Value("sqrt"), config::Value(0.0), config::Value(-1)}) {
    CATCH_CHECK_FALSE(EmbeddingScale::from_value(wrong));
  }
  CATCH_CHECK(EmbeddingScale::from_value(config::Value(2))->of(16) == 2);
  CATCH_CHECK(EmbeddingScale::from_value(config::Value("sqrt_width"))->of(16) == 4);
}

}  // namespace
}  // namespace difflab
