// What every parameter is drawn from, over all variants: kind, width and independence.

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"
#include "model/language_model.h"
#include "support/attention_variants.h"
#include "support/catch.h"

namespace difflab {
namespace {

constexpr std::int64_t kWidth = 96, kWords = 200;

ModelConfig drawn_config(AttentionConfig attention) {
  return {.d_model = kWidth, .layers = 3, .attention = std::move(attention)};
}

std::shared_ptr<LanguageModel> drawn(const ModelConfig& config, std::uint64_t seed = 3) {
  auto model = std::make_shared<LanguageModel>(config, kWords);
  for (auto& parameter : model->parameters()) parameter.detach().fill_(7);  // what is not drawn
  initialise(*model, config, seed);
  return model;
}

/// Numbers that are meant to come from one distribution.
struct Pool {
  double sum = 0, squares = 0, largest = 0;
  std::int64_t count = 0;

  void add(const at::Tensor& values) {
    const auto wide = values.detach().to(at::kDouble);
    sum += wide.sum().item<double>();
    squares += wide.square().sum().item<double>();
    largest = std::max(largest, wide.abs().max().item<double>());
    count += wide.numel();
  }
  double mean() const { return sum / static_cast<double>(count); }
  double deviation() const { return std::sqrt(squares / static_cast<double>(count)); }
};

// Five standard errors; of a deviation that is σ/√2n for a normal and less for a uniform one.
void check_pool(const Pool& pool, double deviation) {
  const double n = static_cast<double>(pool.count);
  CATCH_CHECK(std::abs(pool.mean()) < 5 * deviation / std::sqrt(n));
  CATCH_CHECK(pool.deviation() == Approx(deviation).epsilon(5 / std::sqrt(2 * n)));
}

void check_normal(const Pool& pool, double deviation) {
  check_pool(pool, deviation);
  CATCH_CHECK(pool.largest > 2.5 * deviation);  // a uniform one ends at √3
}

void check_uniform(const Pool& pool, double bound) {
  check_pool(pool, bound / std::sqrt(3));
  CATCH_CHECK(pool.largest <= bound);
  CATCH_CHECK(pool.largest > 0.99 * bound);
}

// The parameters that attentions set themselves (Attention::initialise), found by letting them.
std::set<std::string> set_by_attention(const ModelConfig& config) {
  LanguageModel model(config, kWords);
  for (auto& parameter : model.parameters()) parameter.detach().fill_(7);
  const at::NoGradGuard no_grad;
  model.for_each_attention([](const std::string&, Attention& attention) {
    attention.initialise([](const std::string& name) { return Random{stream_key(name)}; });
  });
  std::set<std::string> names;
  for (const auto& parameter : model.named_parameters()) {
    if (parameter.value().ne(7).any().item<bool>()) names.insert(parameter.key());
  }
  return names;
}

// Values that attentions give their own parameters; those of λ are looked at below.
void check_own(const std::string& name, const at::Tensor& value) {
  for (const char* zero : {".xsa_alpha", ".lambda_a", ".lambda_b"}) {
    if (name.ends_with(zero)) CATCH_CHECK(value.eq(0).all().item<bool>());
  }
}

// Every parameter of a model with the defaults of the official files.
void check_drawn(const ModelConfig& config) {
  const auto own = set_by_attention(config);
  const auto model = drawn(config);
  for (const auto& parameter : model->named_parameters()) {
    const auto& name = parameter.key();
    const auto& value = parameter.value();
    CATCH_INFO(name);
    CATCH_CHECK(value.isfinite().all().item<bool>());
    if (own.count(name) > 0) {
      CATCH_CHECK(name.find(".attn.") != name.npos);
      check_own(name, value);
    } else if (!name.ends_with(".weight") && !name.ends_with(".bias")) {
      CATCH_FAIL_CHECK("nobody sets it: only names that end in .weight or .bias are known");
    } else if (value.dim() == 1) {
      CATCH_CHECK(value.eq(name.ends_with(".bias") ? 0 : 1).all().item<bool>());
    } else {
      Pool pool;
      pool.add(value);
      const bool embeds = name == "tok_embeddings.weight" || name == "positions.weight";
      const auto inputs = static_cast<double>(value.size(1));
      embeds ? check_normal(pool, 1 / std::sqrt(kWidth * 1.0))
             : check_uniform(pool, 1 / std::sqrt(inputs));
    }
  }
}

CATCH_TEST_CASE("every parameter of every variant is drawn as the official files draw it") {
  for (const auto& [name, attention] : testing::attention_variants()) {
    CATCH_INFO(name);
    check_drawn(drawn_config(attention));
  }
  for (const auto block : {BlockKind::kLlama, BlockKind::kNano}) {
    auto config = drawn_config(DifferentialAttentionConfig{});
    config.block = block;
    config.positions = Positions::kLearned;
    check_drawn(config);
  }
}

CATCH_TEST_CASE("the vectors of λ are normal with lambda_std, and no projection is set twice") {
  for (const double deviation : {0.1, 0.4}) {
    for (const auto per : {LambdaScope::kLayer, LambdaScope::kHead}) {
      const auto config =
          drawn_config(DifferentialAttentionConfig{.lambda_per = per, .lambda_std = deviation});
      Pool lambdas;
      const auto model = drawn(config);
      for (const auto& name : set_by_attention(config)) {
        CATCH_INFO(name);
        CATCH_CHECK((name.find("lambda_q") != name.npos || name.find("lambda_k") != name.npos));
        const auto value = model->named_parameters()[name];
        CATCH_CHECK(value.abs().max().item<double>() > 0);  // of zeros none would learn
        lambdas.add(value);
      }
      CATCH_CHECK(lambdas.count == 3 * 4 * 24 * (per == LambdaScope::kHead ? 2 : 1));
      check_pool(lambdas, deviation);
    }
  }
}

CATCH_TEST_CASE("deviations that are given hold for matrices and for embeddings, each its own") {
  auto config = drawn_config(SoftmaxAttentionConfig{});
  config.positions = Positions::kLearned;
  config.init_std = 0.02;
  config.embedding_std = 0.5;
  const auto model = drawn(config);
  for (const auto& parameter : model->named_parameters()) {
    const auto& name = parameter.key();
    if (parameter.value().dim() != 2) continue;
    CATCH_INFO(name);
    Pool pool;
    pool.add(parameter.value());
    const bool embeds = name == "tok_embeddings.weight" || name == "positions.weight";
    check_normal(pool, embeds ? 0.5 : 0.02);
  }
}

CATCH_TEST_CASE("a learned number λ begins at its λ_init, layer by layer and head by head") {
  for (const auto per : {LambdaScope::kLayer, LambdaScope::kHead}) {
    // exp(a) − exp(b) + λ_init with a = b = 0 at first.
    const auto exponential = drawn(
        drawn_config(DifferentialAttentionConfig{.heads = 2,
                                                 .lambda_init = LambdaInit(0.3),
                                                 .lambda_form = LambdaForm::kScalarExponential,
                                                 .lambda_per = per}));
    for (const auto& [name, lambda] : exponential->statistics()) {
      CATCH_INFO(name);
      CATCH_CHECK(lambda == Approx(0.3));
    }
    const auto model = drawn(drawn_config(
        DifferentialAttentionConfig{.heads = 2,
                                    .lambda_init = LambdaInit(std::vector{0.1, 0.2, 0.7}),
                                    .lambda_form = LambdaForm::kScalar,
                                    .lambda_per = per}));
    const double expected[] = {0.1, 0.2, 0.7};
    for (std::size_t layer = 0; layer < 3; ++layer) {
      const auto name = concat("layers.", layer, ".attn.lambda");
      const auto lambda = model->named_parameters()[name];
      CATCH_CHECK(lambda.numel() == (per == LambdaScope::kHead ? 2 : 1));
      CATCH_CHECK(at::allclose(lambda, at::full_like(lambda, expected[layer])));
    }
  }
}

CATCH_TEST_CASE("sinks are normal with the deviation of the official file") {
  Pool sinks;
  const auto model = drawn(drawn_config(SoftmaxAttentionConfig{
      .heads = 48, .head_dim = 2, .controls = {.sink = AttentionSink::kLearned}}));
  for (const auto& parameter : model->named_parameters()) {
    if (parameter.key().ends_with(".sinks")) sinks.add(parameter.value());
  }
  CATCH_CHECK(sinks.count == 3 * 48);
  check_normal(sinks, 0.02);
}

CATCH_TEST_CASE("no two parameters share their numbers, and another seed draws others") {
  for (const auto& [kind, attention] : testing::attention_variants()) {
    CATCH_INFO(kind);
    const auto config = drawn_config(attention);
    const auto own = set_by_attention(config);
    const auto model = drawn(config), twin = drawn(config), other = drawn(config, 4);
    std::set<double> firsts;
    std::size_t tensors = 0;
    for (const auto& parameter : model->named_parameters()) {
      const auto& name = parameter.key();
      const auto& value = parameter.value();
      CATCH_INFO(name);
      CATCH_CHECK(value.equal(twin->named_parameters()[name]));
      const bool by_seed = !value.equal(other->named_parameters()[name]);
      // Gains and biases are the same for all seeds, and what an attention sets may be.
      if (own.count(name) == 0) CATCH_CHECK(by_seed == (value.dim() == 2));
      if (!by_seed || value.numel() < 2) continue;
      ++tensors;
      // Of one stream the ratio of the first two numbers would be the same at any width.
      const auto flat = value.detach().flatten();
      firsts.insert(flat[0].item<double>() / flat[1].item<double>());
    }
    CATCH_CHECK(firsts.size() == tensors);
    CATCH_CHECK(tensors > 0);
  }
}

}  // namespace
}  // namespace difflab
