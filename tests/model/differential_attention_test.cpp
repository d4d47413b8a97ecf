#include "model/attention/base/attention.h"
#include "model/attention/differential.h"
#include "model/attention/softmax.h"
#include "model/layer/norm.h"
#include "support/catch.h"
#include "support/problems.h"
#include "support/tensors.h"

namespace difflab {
namespace {

using testing::relative_error;

constexpr std::int64_t kV1Width = 16, kV1Heads = 2, kV1Tokens = 7;  // d = 4

struct Fixture {
  explicit Fixture(DifferentialAttentionConfig config, std::int64_t layer = 1) {
    torch::manual_seed(1);
    config.heads = kV1Heads;
    attention = config.build({kV1Width, layer});
    attention->to(at::kDouble);
    rotary = Rotary::table(kV1Tokens, 4, 10'000, at::zeros({}, at::kDouble));
    x = at::randn({3, kV1Tokens, kV1Width}, at::kDouble);
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
  const auto mask = at::full({kV1Tokens, kV1Tokens}, -INFINITY, at::kDouble).triu(1);
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
  // Motif's, in the metadata of its reference cases.
  CATCH_CHECK(LambdaInit::motif().at(0) == Approx(-0.009915284545601866).epsilon(1e-12));
  CATCH_CHECK(LambdaInit::motif().at(1) == Approx(0.2).epsilon(1e-12));
  CATCH_CHECK(LambdaInit::motif().at(3) == Approx(0.4707130183435842).epsilon(1e-12));
  CATCH_CHECK(LambdaInit(0.8).at(5) == 0.8);
  CATCH_CHECK(LambdaInit(std::vector{0.1, 0.9}).at(1) == 0.9);
}

CATCH_TEST_CASE("rows of a difference of maps sum to 1 − λ") {
  const Fixture f({});
  const auto [name, lambda] = f.attention->statistics().front();
  CATCH_CHECK(name == "lambda");
  const auto sums = f.attention->weights(f.x, f.rotary).sum(-1);  // [B, H, T]
  CATCH_CHECK(relative_error(sums, at::full({3, kV1Heads, kV1Tokens}, 1 - lambda, at::kDouble)) <
              1e-12);
}

CATCH_TEST_CASE("statistics name the λ of every head, and their mean") {
  for (const auto form : {LambdaForm::kExponential, LambdaForm::kScalarExponential}) {
    const Fixture f({.lambda_form = form, .lambda_per = LambdaScope::kHead, .lambda_std = 0.5});
    if (form == LambdaForm::kScalarExponential) {
      const at::NoGradGuard no_grad;
      auto a = f.parameter("lambda_a");
      a.copy_((at::arange(kV1Heads).to(at::kDouble) / 7).view_as(a));
    }
    const auto lambdas = f.attention->lambdas(f.x)[0][0];  // [H]
    const auto statistics = f.attention->statistics();
    CATCH_REQUIRE(statistics.size() == 1 + kV1Heads);
    CATCH_CHECK(statistics[0].second == Approx(lambdas.mean().item<double>()));
    for (std::int64_t head = 0; head < kV1Heads; ++head) {
      const auto& [name, lambda] = statistics[static_cast<std::size_t>(head) + 1];
      CATCH_CHECK(name == concat("lambda_head", head));
      CATCH_CHECK(lambda == Approx(lambdas[head].item<double>()));
    }
    CATCH_CHECK(statistics[1].second != statistics[2].second);
  }
}

CATCH_TEST_CASE("at λ = 0 the weights are the first maps alone") {
  const Fixture f({.lambda_init = LambdaInit(0.0), .lambda_std = 0.0});
  const auto q = rotate_by_hand(f.x.matmul(f.parameter("q_proj.weight").t()).narrow(2, 8, 4));
  const auto k = rotate_by_hand(f.x.matmul(f.parameter("k_proj.weight").t()).narrow(2, 8, 4));
  const auto mask = at::full({kV1Tokens, kV1Tokens}, -INFINITY, at::kDouble).triu(1);
  const auto map = at::softmax(q.matmul(k.transpose(1, 2)) / 2.0 + mask, -1);
  CATCH_CHECK(relative_error(f.attention->weights(f.x, f.rotary).select(1, 1), map) < 1e-12);
}

CATCH_TEST_CASE("the head norm and the post-scale do what their names say") {
  const auto output_of = [](DifferentialAttentionConfig config) {
    const Fixture f(config);
    // o before out_proj: the identity as the last projection
    const at::NoGradGuard no_grad;
    f.parameter("out_proj.weight").copy_(at::eye(kV1Width));
    return f.attention->forward(f.x, f.rotary).unflatten(-1, {kV1Heads, 8}).clone();  // [B,T,H,2d]
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

CATCH_TEST_CASE("a λ per head, a scalar λ and a constant one do what their names say") {
  // The output without norm and scale, the last projection being the identity, is A v; with v = 1
  // in every channel it is the row sum 1 − λ.
  const auto row_sums = [](DifferentialAttentionConfig config, auto prepare) {
    config.head_norm = HeadNormKind::kNone;
    config.post_scale = false;
    const Fixture f(config);
    const at::NoGradGuard no_grad;
    prepare(f);
    return f.attention->weights(f.x, f.rotary).sum(-1).select(0, 0).select(1, 3);  // [H]
  };
  const auto per_head = row_sums({.lambda_init = LambdaInit(0.3), .lambda_per = LambdaScope::kHead},
                                 [](const Fixture& f) {
                                   for (const char* name : {"lambda_q1", "lambda_k1"}) {
                                     f.parameter(name).fill_(0.5);  // dot product 4·0.25 = 1
                                   }
                                   f.parameter("lambda_q1")[1].zero_();  // second head: 0
                                   f.parameter("lambda_q2").zero_();     // exp(0) = 1
                                 });
  const double e = std::exp(1.0);
  CATCH_CHECK(per_head[0].item<double>() == Approx(1 - (e - 1 + 0.3)).epsilon(1e-12));
  CATCH_CHECK(per_head[1].item<double>() == Approx(1 - 0.3).epsilon(1e-12));

  const auto scalar = row_sums({.lambda_init = LambdaInit(0.3),
                                .lambda_form = LambdaForm::kScalar,
                                .lambda_per = LambdaScope::kHead},
                               [](const Fixture& f) { f.parameter("lambda")[1].fill_(-0.25); });
  CATCH_CHECK(scalar[0].item<double>() == Approx(0.7).epsilon(1e-7));  // λ_init, kept as float32
  CATCH_CHECK(scalar[1].item<double>() == Approx(1.25).epsilon(1e-12));

  const DifferentialAttentionConfig constant{.lambda_init = LambdaInit(0.3),
                                             .lambda_form = LambdaForm::kConstant};
  CATCH_CHECK(row_sums(constant, [](const Fixture&) {})[0].item<double>() ==
              Approx(0.7).epsilon(1e-12));
}

CATCH_TEST_CASE("a positive λ is a softplus of the free one that leaves λ_init where it is") {
  const double init = 0.3, h = 1e-5;
  const Fixture f({.lambda_init = LambdaInit(init),
                   .lambda_form = LambdaForm::kScalar,
                   .lambda_sign = LambdaSign::kPositive});
  auto free = f.parameter("lambda");
  const auto at_free = [&](double value) {
    const at::NoGradGuard no_grad;
    free.fill_(value);
    return f.attention->statistics().front().second;
  };
  for (const double value : {-2.0, -0.5, 0.0, 0.1, init, 0.5, 2.0, 20.0}) {
    CATCH_INFO("λ " << value);
    const double expected =
        init / 4 * std::log1p((std::exp(4.0) - 1) * std::exp(4 * (value - init) / init));
    CATCH_CHECK(at_free(value) == Approx(expected).epsilon(1e-12));
    CATCH_CHECK(at_free(value) > 0);
    const double slope = (at_free(value + h) - at_free(value - h)) / (2 * h);
    at_free(value);
    free.mutable_grad() = at::zeros_like(free);
    f.attention->lambdas(f.x)[0][0][0].backward();
    CATCH_CHECK(free.grad().item<double>() == Approx(slope).epsilon(1e-6).margin(1e-9));
  }
  CATCH_CHECK(at_free(init) == Approx(init).epsilon(1e-12));
  const auto problem_of = [](LambdaInit choice, LambdaScope per = LambdaScope::kLayer) {
    return testing::Problems::of(DifferentialAttentionConfig{
        .lambda_init = choice, .lambda_per = per, .lambda_sign = LambdaSign::kPositive});
  };
  CATCH_CHECK(problem_of(LambdaInit()).empty());
  CATCH_CHECK_THAT(problem_of(LambdaInit(0.0)), Contains("expected one above 0"));
  CATCH_CHECK_THAT(problem_of(LambdaInit::motif()), Contains("lambda_init of -0.0099"));
  CATCH_CHECK_THAT(problem_of({}, LambdaScope::kToken), Contains("has no lambda_form and no"));
}

CATCH_TEST_CASE("in Symmetric DIFF a query and a key at one place are one vector") {
  const Fixture f({.symmetric = true});
  CATCH_CHECK_FALSE(f.attention->named_parameters().contains("k_proj.weight"));
  // The same module with a key projection that is a copy of the query projection.
  const Fixture twin({});
  const at::NoGradGuard no_grad;
  for (const auto& parameter : twin.attention->named_parameters()) {
    const bool key = parameter.key() == "k_proj.weight";
    parameter.value().copy_(f.parameter(key ? "q_proj.weight" : parameter.key()));
  }
  CATCH_CHECK(relative_error(f.attention->forward(f.x, f.rotary),
                             twin.attention->forward(f.x, f.rotary)) < 1e-14);
}

CATCH_TEST_CASE("a head norm's gain and bias act channel by channel") {
  for (const auto kind : {HeadNormKind::kRms, HeadNormKind::kGroup}) {
    const HeadNorm norm(kind, 4, 1e-5, Kernels::kFused);
    const auto parameters = norm.named_parameters();
    const auto x = at::randn({2, 3, 4}, at::kDouble).to(at::kFloat);
    const auto before = norm.forward(x);
    const auto gain = at::tensor({2.0, -1.0, 0.5, 3.0}).to(at::kFloat);
    const at::NoGradGuard no_grad;
    parameters["weight"].copy_(gain);
    auto expected = before * gain;
    if (kind == HeadNormKind::kGroup) {
      parameters["bias"].fill_(0.75);
      expected = expected + 0.75;
    }
    CATCH_CHECK(relative_error(norm.forward(x), expected) < 1e-6);
  }
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
