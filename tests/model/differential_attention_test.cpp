#include <ATen/ATen.h>

#include <cmath>

#include "model/attention.h"
#include "model/attention/differential.h"
#include "model/attention/softmax.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

using testing::relative_error;

constexpr std::int64_t kWidth = 16, kHeads = 2, kTokens = 7;  // d = 4

struct Fixture {
  explicit Fixture(DifferentialAttentionConfig config, std::int64_t layer = 1) {
    torch::manual_seed(1);
    config.heads = kHeads;
    attention = config.build({kWidth, layer});
    attention->to(at::kDouble);
    rotary = Rotary::table(kTokens, 4, 10'000, at::zeros({}, at::kDouble));
    x = at::randn({3, kTokens, kWidth}, at::kDouble);
  }
  at::Tensor parameter(const std::string& name) const {
    return attention->named_parameters()[name];
  }
  std::shared_ptr<Attention> attention;
  Rotary rotary;
  at::Tensor x;
};

// Rotates pairs (2j, 2j+1) of [B, T, d] by t · 10000^(−2j/d), number by number.
at::Tensor rotate_by_hand(const at::Tensor& x) {
  auto y = x.clone();
  const auto d = x.size(2);
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    for (std::int64_t j = 0; j < d / 2; ++j) {
      const double angle =
          static_cast<double>(t) *
          std::pow(10'000.0, -2.0 * static_cast<double>(j) / static_cast<double>(d));
      const auto a = x.select(1, t).select(1, 2 * j), b = x.select(1, t).select(1, 2 * j + 1);
      y.select(1, t).select(1, 2 * j).copy_(a * std::cos(angle) - b * std::sin(angle));
      y.select(1, t).select(1, 2 * j + 1).copy_(a * std::sin(angle) + b * std::cos(angle));
    }
  }
  return y;
}

// Equations 1-3 of arXiv 2410.05258, one head at a time, on the layer's own parameters.
at::Tensor paper_equations(const Fixture& f, double lambda_init) {
  const auto project = [&](const char* name) {
    return f.x.matmul(f.parameter(name).t());  // [B, T, D]
  };
  const auto q = project("q_proj.weight"), k = project("k_proj.weight"),
             v = project("v_proj.weight");
  const auto dot = [&](const char* a, const char* b) {
    return (f.parameter(a) * f.parameter(b)).sum().exp();
  };
  const auto lambda = dot("lambda_q1", "lambda_k1") - dot("lambda_q2", "lambda_k2") + lambda_init;
  const auto mask = at::full({kTokens, kTokens}, -INFINITY, at::kDouble).triu(1);
  const auto map = [&](std::int64_t channel) {
    const auto qs = rotate_by_hand(q.narrow(2, channel, 4));
    const auto ks = rotate_by_hand(k.narrow(2, channel, 4));
    return at::softmax(qs.matmul(ks.transpose(1, 2)) / 2.0 + mask, -1);
  };
  std::vector<at::Tensor> heads;
  for (const std::int64_t begin : {0, 8}) {
    const auto o = (map(begin) - lambda * map(begin + 4)).matmul(v.narrow(2, begin, 8));
    const auto norm = o / (o.square().mean(-1, true) + 1e-5).sqrt();
    heads.push_back(norm * f.parameter("subln.weight") * (1 - lambda_init));
  }
  return at::cat(heads, -1).matmul(f.parameter("out_proj.weight").t());
}

CATCH_TEST_CASE("DIFF V1 equals the paper's equations") {
  const Fixture f({});
  CATCH_CHECK(relative_error(f.attention->forward(f.x, f.rotary),
                             paper_equations(f, 0.8 - 0.6 * std::exp(-0.3))) < 1e-12);
  const Fixture constant({.lambda_init = LambdaInit(0.5)});
  CATCH_CHECK(relative_error(constant.attention->forward(constant.x, constant.rotary),
                             paper_equations(constant, 0.5)) < 1e-12);
}

CATCH_TEST_CASE("the λ_init schedule counts layers from 0") {
  const LambdaInit schedule;
  // 0.8 − 0.6·exp(−0.3·l), worked out by hand to three digits in spec and paper
  const double expected[] = {0.200, 0.356, 0.471, 0.556, 0.619, 0.666};
  for (std::int64_t layer = 0; layer < 6; ++layer) {
    CATCH_CHECK(schedule.at(layer) == Approx(expected[layer]).margin(5e-4));
  }
  CATCH_CHECK(LambdaInit(0.8).at(5) == 0.8);
  CATCH_CHECK(LambdaInit(std::vector{0.1, 0.9}).at(1) == 0.9);
}

CATCH_TEST_CASE("rows of a difference of maps sum to 1 − λ") {
  const Fixture f({});
  const auto [name, lambda] = f.attention->statistics().front();
  CATCH_CHECK(name == "lambda");
  const auto sums = f.attention->weights(f.x, f.rotary).sum(-1);  // [B, H, T]
  CATCH_CHECK(relative_error(sums, at::full({3, kHeads, kTokens}, 1 - lambda, at::kDouble)) <
              1e-12);
}

CATCH_TEST_CASE("at λ = 0 the weights are the first maps alone") {
  const Fixture f({.lambda_init = LambdaInit(0.0), .lambda_std = 0.0});
  const auto q = rotate_by_hand(f.x.matmul(f.parameter("q_proj.weight").t()).narrow(2, 8, 4));
  const auto k = rotate_by_hand(f.x.matmul(f.parameter("k_proj.weight").t()).narrow(2, 8, 4));
  const auto mask = at::full({kTokens, kTokens}, -INFINITY, at::kDouble).triu(1);
  const auto map = at::softmax(q.matmul(k.transpose(1, 2)) / 2.0 + mask, -1);
  CATCH_CHECK(relative_error(f.attention->weights(f.x, f.rotary).select(1, 1), map) < 1e-12);
}

CATCH_TEST_CASE("the head norm and the post-scale do what their names say") {
  const auto output_of = [](DifferentialAttentionConfig config) {
    const Fixture f(config);
    // o before out_proj: the identity as the last projection
    const at::NoGradGuard no_grad;
    f.parameter("out_proj.weight").copy_(at::eye(kWidth));
    return f.attention->forward(f.x, f.rotary).unflatten(-1, {kHeads, 8}).clone();  // [B,T,H,2d]
  };
  const double scale = 1 - (0.8 - 0.6 * std::exp(-0.3));
  const auto plain = output_of({.head_norm = HeadNormKind::kNone, .post_scale = false});
  CATCH_CHECK(relative_error(output_of({.head_norm = HeadNormKind::kNone}), plain * scale) < 1e-12);
  CATCH_CHECK(relative_error(output_of({.post_scale = false}),
                             plain / (plain.square().mean(-1, true) + 1e-5).sqrt()) < 1e-12);
  const auto centred = plain - plain.mean(-1, true);
  CATCH_CHECK(relative_error(output_of({.head_norm = HeadNormKind::kGroup, .post_scale = false}),
                             centred / (centred.square().mean(-1, true) + 1e-5).sqrt()) < 1e-12);
}

CATCH_TEST_CASE("DIFF V1 adds 4d + 2d parameters to a Transformer with twice the heads") {
  const auto count = [](const Attention& attention) {
    std::int64_t total = 0;
    for (const auto& parameter : attention.parameters()) total += parameter.numel();
    return total;
  };
  const auto diff = DifferentialAttentionConfig{.heads = 8}.build({256, 0});  // d = 16
  const auto transformer = SoftmaxAttentionConfig{.heads = 16}.build({256, 0});
  CATCH_CHECK(count(*transformer) == 4 * 256 * 256);
  CATCH_CHECK(count(*diff) - count(*transformer) == 4 * 16 + 2 * 16);
}

}  // namespace
}  // namespace difflab
