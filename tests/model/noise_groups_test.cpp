// Several signal heads with one noise map: grouped V1 (arXiv 2510.06949) and V2 (Motif 3's
// operator) written once more, head by head, in the layout of MotifTechnologies/vllm.

#include "config/schema/reader.h"
#include "model/attention/base/attention.h"
#include "model/attention/differential.h"
#include "model/attention/differential_v2.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

using testing::relative_error;

constexpr std::int64_t kChannels = 24, kRows = 9, kHeadDim = 4;

/// A layer and an input; the formulas below use its parameters alone.
struct Layer {
  std::shared_ptr<Attention> attention;
  at::Tensor x = at::randn({2, kRows, kChannels}, at::kDouble);

  template <class Config>
  Layer(const Config& config, std::int64_t layer, Kernels kernels)
      : attention(config.build({kChannels, layer, false, kernels})) {
    attention->to(at::kDouble);
    const at::NoGradGuard no_grad;
    for (const auto& parameter : attention->named_parameters()) {
      if (parameter.key().starts_with("lambda_") || parameter.key() == "sinks") {
        at::Tensor(parameter.value()).normal_(0, 0.4);
      }
    }
  }
  at::Tensor parameter(const std::string& name) const {
    return attention->named_parameters()[name];
  }
  // Columns [first, first + count) of x times a projection.
  at::Tensor part(const char* name, std::int64_t first, std::int64_t count) const {
    return x.matmul(parameter(name).narrow(0, first, count).t());
  }
  // softmax of query head j with key head k, and a sink if there is one.
  at::Tensor map(std::int64_t j, std::int64_t k) const {
    const auto q = part("q_proj.weight", j * kHeadDim, kHeadDim),
               key = part("k_proj.weight", k * kHeadDim, kHeadDim);
    const auto e = (q.matmul(key.transpose(1, 2)) / std::sqrt(4.0)).exp().tril();
    const bool sunk = attention->named_parameters().contains("sinks");
    return e / (e.sum(-1, true) + (sunk ? parameter("sinks")[j].exp() : at::zeros({})));
  }
  at::Tensor output() const { return attention->forward(x, Rotary::none()); }
};

double motif_init(std::int64_t layer) { return 0.8 - 0.6 * std::exp(-0.3 * double(layer - 1)); }

// λ of the layer, of one head, or of a head at each token, where z moves the odds of λ_init.
at::Tensor lambda_of(const Layer& f, std::int64_t head, double init) {
  const bool by_token = f.attention->named_parameters().contains("lambda_proj.weight");
  if (by_token) return 1 / (1 + (1 / init - 1) * (-f.part("lambda_proj.weight", head, 1)).exp());
  const auto vector = [&](const char* name) {
    const auto all = f.parameter(name);
    return all.dim() == 1 ? all : all[head];
  };
  return vector("lambda_q1").dot(vector("lambda_k1")).exp() -
         vector("lambda_q2").dot(vector("lambda_k2")).exp() + init;
}

// N groups of G signal heads and a noise head over P pairs of key heads, values of width 2d.
at::Tensor grouped_v1(const Layer& f, std::int64_t N, std::int64_t G, std::int64_t P, double init) {
  std::vector<at::Tensor> heads;
  for (std::int64_t g = 0; g < N; ++g) {
    const auto pair = g / (N / P);
    const auto v = f.part("v_proj.weight", pair * 2 * kHeadDim, 2 * kHeadDim);
    const auto noise = f.map(g * (G + 1) + G, 2 * pair + 1).matmul(v);
    for (std::int64_t r = 0; r < G; ++r) {
      const auto o =
          f.map(g * (G + 1) + r, 2 * pair).matmul(v) - lambda_of(f, g * G + r, init) * noise;
      const auto norm = o / (o.square().mean(-1, true) + 1e-5).sqrt();
      heads.push_back(norm * f.parameter("subln.weight") * (1 - init));
    }
  }
  return at::cat(heads, -1).matmul(f.parameter("out_proj.weight").t());
}

// The same over K key/value heads, with a λ per token and signal head and an element-wise gate.
at::Tensor grouped_v2(const Layer& f, std::int64_t N, std::int64_t G, std::int64_t K) {
  std::vector<at::Tensor> heads;
  for (std::int64_t g = 0; g < N; ++g) {
    const auto group = g / (N / K);
    const auto v = f.part("v_proj.weight", group * kHeadDim, kHeadDim);
    const auto noise = f.map(g * (G + 1) + G, group).matmul(v);
    for (std::int64_t r = 0; r < G; ++r) {
      const auto i = g * G + r;
      const auto lambda = 1 / (1 + (-f.part("lambda_proj.weight", i, 1)).exp());
      const auto gate = f.part("gate_proj.weight", i * kHeadDim, kHeadDim);
      const auto o = f.map(g * (G + 1) + r, group).matmul(v) - lambda * noise;
      heads.push_back(o / (1 + (-gate).exp()));
    }
  }
  return at::cat(heads, -1).matmul(f.parameter("o_proj.weight").t());
}

CATCH_TEST_CASE("grouped DIFF V1 equals its formula, head by head") {
  torch::manual_seed(1);
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    for (const std::int64_t G : {1, 2, 3}) {
      for (const std::int64_t pairs : {1, 2, 4}) {
        for (const auto scope : {LambdaScope::kLayer, LambdaScope::kHead, LambdaScope::kToken}) {
          CATCH_INFO("G " << G << ", " << pairs << " pairs of keys");
          const Layer f(DifferentialAttentionConfig{.heads = 4 * G,
                                                    .kv_heads = pairs,
                                                    .signal_per_noise = G,
                                                    .head_dim = kHeadDim,
                                                    .lambda_init = LambdaInit::motif(),
                                                    .lambda_per = scope,
                                                    .controls = {.sink = AttentionSink::kLearned}},
                        2, kernels);
          CATCH_CHECK(relative_error(f.output(), grouped_v1(f, 4, G, pairs, motif_init(2))) <
                      1e-12);
        }
      }
    }
  }
}

CATCH_TEST_CASE("grouped DIFF V2 equals its formula, head by head") {
  torch::manual_seed(2);
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    for (const std::int64_t G : {1, 2, 3}) {
      for (const std::int64_t kv_heads : {1, 2, 4}) {
        CATCH_INFO("G " << G << ", " << kv_heads << " kv heads");
        const Layer f(DifferentialV2Config{.heads = 4 * G,
                                           .kv_heads = kv_heads,
                                           .signal_per_noise = G,
                                           .head_dim = kHeadDim,
                                           .controls = {HeadGate::kElement, AttentionSink::kLearned,
                                                        QkNorm::kNone}},
                      0, kernels);
        CATCH_CHECK(relative_error(f.output(), grouped_v2(f, 4, G, kv_heads)) < 1e-12);
      }
    }
  }
}

// Pairs of a signal and a noise head, where the noise heads of a group have the same rows.
template <class Config>
void check_against_pairs(Config grouped) {
  torch::manual_seed(3);
  auto pairs = grouped;
  pairs.signal_per_noise = 1;
  const Layer f(grouped, 1, Kernels::kFused), twin(pairs, 1, Kernels::kFused);
  const auto G = grouped.signal_per_noise, d = *grouped.head_dim;
  const auto rows = [&](const at::Tensor& q) { return q.unflatten(0, {-1, d}); };  // [maps, d, D]
  {
    const at::NoGradGuard no_grad;
    for (const auto& parameter : twin.attention->named_parameters()) {
      if (parameter.key() != "q_proj.weight") parameter.value().copy_(f.parameter(parameter.key()));
    }
    const auto from = rows(f.parameter("q_proj.weight")),
               to = rows(twin.parameter("q_proj.weight"));
    for (std::int64_t i = 0; i < grouped.heads; ++i) {
      to[2 * i].copy_(from[i / G * (G + 1) + i % G]);
      to[2 * i + 1].copy_(from[i / G * (G + 1) + G]);
    }
  }
  const auto w = at::randn_like(f.x);
  const auto a = f.output(), b = twin.attention->forward(f.x, Rotary::none());
  CATCH_CHECK(relative_error(a, b) < 1e-12);
  (a * w).sum().backward();
  (b * w).sum().backward();
  // The queries of a noise head are asked by all of its signal heads.
  const auto ours = rows(f.parameter("q_proj.weight").grad()),
             theirs = rows(twin.parameter("q_proj.weight").grad());
  for (std::int64_t g = 0; g < grouped.heads / G; ++g) {
    auto sum = at::zeros_like(theirs[0]);
    for (std::int64_t r = 0; r < G; ++r) {
      sum += theirs[2 * (g * G + r) + 1];
      CATCH_CHECK(relative_error(ours[g * (G + 1) + r], theirs[2 * (g * G + r)]) < 1e-10);
    }
    CATCH_CHECK(relative_error(ours[g * (G + 1) + G], sum) < 1e-10);
  }
}

CATCH_TEST_CASE("groups are pairs whose noise heads are the same, outputs and gradients") {
  for (const std::int64_t G : {2, 3}) {
    CATCH_INFO("G " << G);
    check_against_pairs(DifferentialAttentionConfig{
        .heads = 2 * G, .kv_heads = 2, .signal_per_noise = G, .head_dim = kHeadDim});
    check_against_pairs(DifferentialV2Config{
        .heads = 2 * G, .kv_heads = 2, .signal_per_noise = G, .head_dim = kHeadDim});
  }
}

// A noise head without influence: λ = 0 leaves the signal maps alone.
CATCH_TEST_CASE("weights have one map per signal head, and λ is told for each") {
  const DifferentialAttentionConfig config{.heads = 6,
                                           .signal_per_noise = 3,
                                           .head_dim = kHeadDim,
                                           .lambda_init = LambdaInit(0.0),
                                           .lambda_form = LambdaForm::kConstant};
  const Layer f(config, 0, Kernels::kPlain);
  const auto weights = f.attention->weights(f.x, Rotary::none());
  CATCH_REQUIRE(weights.sizes().vec() == std::vector<std::int64_t>{2, 6, kRows, kRows});
  CATCH_CHECK(f.attention->lambdas(f.x).sizes().vec() == std::vector<std::int64_t>{2, kRows, 6});
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto g = i / 3;
    CATCH_CHECK(relative_error(weights.select(1, i), f.map(4 * g + i % 3, 2 * g)) < 1e-12);
  }
}

CATCH_TEST_CASE("the rules of groups are said with the key that breaks them") {
  const auto problem = [](auto config, std::string_view key) {
    struct Problems final : config::Check {
      std::set<std::string> keys;
      void problem(std::string_view name, std::string_view) override { keys.emplace(name); }
    } problems;
    config.validate(problems);
    return key.empty() ? problems.keys.empty()
                       : problems.keys == std::set<std::string>{std::string(key)};
  };
  using V1 = DifferentialAttentionConfig;
  using V2 = DifferentialV2Config;
  CATCH_CHECK(problem(V1{.heads = 6, .kv_heads = 2, .signal_per_noise = 3}, ""));
  CATCH_CHECK(problem(V2{.heads = 6, .kv_heads = 2, .signal_per_noise = 3}, ""));
  CATCH_CHECK(problem(V1{.heads = 4, .signal_per_noise = 3}, "signal_per_noise"));
  CATCH_CHECK(problem(V2{.heads = 4, .signal_per_noise = 3}, "signal_per_noise"));
  CATCH_CHECK(problem(V1{.heads = 6, .kv_heads = 3, .signal_per_noise = 3}, "kv_heads"));
  CATCH_CHECK(problem(V2{.heads = 6, .kv_heads = 6, .signal_per_noise = 3}, "kv_heads"));
  CATCH_CHECK(
      problem(V1{.heads = 6, .signal_per_noise = 3, .symmetric = true}, "signal_per_noise"));
  CATCH_CHECK(problem(V1{.heads = 6, .signal_per_noise = 3, .key_pairing = KeyPairing::kNaive},
                      "signal_per_noise"));
  CATCH_CHECK(problem(V2{.heads = 6, .signal_per_noise = 3, .pairing = QueryPairing::kHalves},
                      "signal_per_noise"));
  CATCH_CHECK(problem(V1{.head_dim = 7}, "head_dim"));
}

}  // namespace
}  // namespace difflab
