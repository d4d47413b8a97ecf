// What every attention must do, whatever its kind and ablation (support/attention_variants.h).
#include <ATen/record_function.h>

#include "config/schema/traits.h"
#include "model/attention/base/attention.h"
#include "support/attention_variants.h"
#include "support/gradients.h"
#include "support/problems.h"

namespace difflab {
namespace {

using testing::relative_error;

constexpr std::int64_t kWidth = 32, kTokens = 9;

struct Built {
  std::shared_ptr<Attention> attention;
  Rotary rotary;
  std::string name;
  AttentionCost cost;
  bool has_sink = false;  ///< then rows of weights sum to less
};

// In the third layer, with biases every other time.
std::vector<Built> all_variants() {
  torch::manual_seed(0);
  std::vector<Built> all;
  for (const auto& [name, config] : testing::attention_variants()) {
    const AttentionShape shape{kWidth, 2, all.size() % 2 == 1};
    auto attention = std::visit([&](const auto& kind) { return kind.build(shape); }, config);
    attention->to(at::kDouble);
    const auto rotary =
        Rotary::table(kTokens, attention->rotary_dim(), 10'000, at::zeros({}, at::kDouble));
    const auto cost = std::visit([&](const auto& kind) { return kind.cost(shape); }, config);
    const auto has_sink = std::visit(
        [](const auto& kind) {
          if constexpr (requires { kind.controls; }) {
            return kind.controls.sink != AttentionSink::kNone;
          }
          return false;
        },
        config);
    all.push_back({attention, rotary, name, cost, has_sink});
  }
  return all;
}

CATCH_TEST_CASE("an attention keeps the shape and trains every parameter") {
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto x = at::randn({2, kTokens, kWidth}, at::kDouble);
    const auto y = attention->forward(x, rotary);
    CATCH_CHECK(y.sizes() == x.sizes());
    (y * at::randn_like(y)).sum().backward();
    for (const auto& parameter : attention->named_parameters()) {
      CATCH_INFO(parameter.key());
      CATCH_REQUIRE(parameter.value().grad().defined());
      CATCH_CHECK(parameter.value().grad().abs().max().item<double>() > 0);
    }
  }
}

CATCH_TEST_CASE("an attention does not see the future") {
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    auto x = at::randn({1, kTokens, kWidth}, at::kDouble);
    const auto before = attention->forward(x, rotary).narrow(1, 0, 5).clone();
    x.narrow(1, 5, 4).normal_();
    const auto after = attention->forward(x, rotary);
    CATCH_CHECK(relative_error(after.narrow(1, 0, 5), before) < 1e-12);
    CATCH_CHECK(relative_error(after.narrow(1, 5, 4), before.narrow(1, 0, 4)) > 1e-3);
  }
}

CATCH_TEST_CASE("an attention gives every sequence of a batch what it gives it alone") {
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto x = at::randn({3, kTokens, kWidth}, at::kDouble);
    const auto together = attention->forward(x, rotary);
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto alone = attention->forward(x.narrow(0, i, 1), rotary);
      CATCH_CHECK(relative_error(together.narrow(0, i, 1), alone) < 1e-12);
    }
  }
}

CATCH_TEST_CASE("an attention works at every width that it does not refuse") {
  for (const auto& [name, config] : testing::attention_variants()) {
    int accepted = 0;
    for (std::int64_t width = 1; width <= 40; ++width) {
      CATCH_INFO(name << ", width " << width);
      const auto refusal = testing::Problems::found([&, &config = config](auto& problems) {
        std::visit([&](const auto& kind) { kind.validate_sizes(width, 3, problems); }, config);
      });
      if (!refusal.empty()) continue;
      ++accepted;
      const AttentionShape shape{width, 2};
      const auto attention =
          std::visit([&](const auto& kind) { return kind.build(shape); }, config);
      const auto rotary = Rotary::table(3, attention->rotary_dim(), 10'000, at::zeros({}));
      const auto x = at::randn({2, 3, width});
      CATCH_CHECK(attention->forward(x, rotary).sizes() == x.sizes());
    }
    CATCH_CHECK(accepted > 0);
  }
}

// Products of matrices [m, k] by [k, n], one for each head: times, m, k, n.
std::vector<std::array<std::int64_t, 4>> head_products;

CATCH_TEST_CASE("what an attention costs beside its projections are its products, head by head") {
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto x = at::randn({1, kTokens, kWidth}, at::kDouble);
    head_products.clear();
    const auto handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& called)
                                       -> std::unique_ptr<at::ObserverContext> {
          if (std::string_view(called.name()) == "aten::bmm") {
            const auto a = called.inputs()[0].toTensor(), b = called.inputs()[1].toTensor();
            head_products.push_back({a.size(0), a.size(1), a.size(2), b.size(2)});
          }
          return nullptr;
        }).needsInputs(true));
    attention->forward(x, rotary);
    at::removeCallback(handle);
    std::int64_t operations = 0;
    for (const auto& [times, m, k, n] : head_products) operations += 2 * times * m * k * n;
    CATCH_CHECK(operations == 2 * kTokens * kTokens * (cost.score_channels + cost.value_channels));
    if (cost.maps == 0) continue;
    const auto mixed = cost.value_products > 0 ? cost.value_products : cost.maps;
    CATCH_REQUIRE(head_products.size() == 2);
    CATCH_CHECK(head_products[0] ==
                std::array{cost.maps, kTokens, cost.score_channels / cost.maps, kTokens});
    CATCH_CHECK(head_products[1] ==
                std::array{mixed, kTokens, kTokens, cost.value_channels / mixed});
  }
}

CATCH_TEST_CASE("an attention's weights are zero above the diagonal and nowhere NaN") {
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto weights = attention->weights(at::randn({2, kTokens, kWidth}, at::kDouble), rotary);
    CATCH_CHECK(weights.dim() == 4);
    CATCH_CHECK(weights.triu(1).abs().max().item<double>() == 0);
    CATCH_CHECK(weights.isfinite().all().item<bool>());
  }
}

CATCH_TEST_CASE("a logit hook sees every softmax map and decides what the softmax reads") {
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto maps = cost.maps;
    const auto x = at::randn({2, kTokens, kWidth}, at::kDouble);
    const auto before = attention->forward(x, rotary);
    const auto future = at::ones({kTokens, kTokens}, at::kBool).triu(1);
    std::int64_t seen = 0;
    {
      const WithLogitHook looking(*attention, [&](const at::Tensor& logits) {
        CATCH_CHECK(logits.dim() == 4);
        CATCH_CHECK(logits.isinf().eq(future).all().item<bool>());
        seen += logits.size(1);
        return logits;
      });
      CATCH_CHECK(relative_error(attention->forward(x, rotary), before) < 1e-12);
      CATCH_CHECK(seen == maps);
    }
    {
      // Even maps: the first position sees itself alone, so its output stays (but for a sink), and
      // the last changes.
      const WithLogitHook even(*attention, [&](const at::Tensor& logits) {
        return at::where(logits.isinf(), logits, at::zeros_like(logits));
      });
      const auto after = attention->forward(x, rotary);
      const double first = relative_error(after.narrow(1, 0, 1), before.narrow(1, 0, 1));
      CATCH_CHECK((first < 1e-9) == !has_sink);
      const double change = relative_error(after.narrow(1, 8, 1), before.narrow(1, 8, 1));
      CATCH_CHECK((change > 1e-3) == (maps > 0));
    }
    CATCH_CHECK(relative_error(attention->forward(x, rotary), before) < 1e-12);
  }
}

CATCH_TEST_CASE("lambdas explain the sums of the weights, wherever there are softmax maps") {
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto x = at::randn({2, kTokens, kWidth}, at::kDouble);
    const auto lambdas = attention->lambdas(x);               // [B, T, H]
    if (cost.maps == 0 && !lambdas.defined()) continue;       // weights of another kind
    if (has_sink) continue;                                   // see below
    const auto sums = attention->weights(x, rotary).sum(-1);  // [B, H, T]
    const auto expected = lambdas.defined() ? 1 - lambdas.transpose(1, 2) : at::ones_like(sums);
    CATCH_CHECK(relative_error(sums + 1, expected + 1) < 1e-9);
  }
}

CATCH_TEST_CASE("a sink takes from the weights of every row, the more the fewer keys it has") {
  int with_sink = 0;
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    if (!has_sink || attention->lambdas(at::randn({1, 1, kWidth}, at::kDouble)).defined()) continue;
    CATCH_INFO(name);
    ++with_sink;
    // Without signal all logits are equal, and a row of n keys leaves n / (n + exp(sink)).
    for (const auto& parameter : attention->named_parameters()) {
      if (parameter.key().ends_with("_proj.bias")) at::Tensor(parameter.value()).detach().zero_();
    }
    const auto zero = at::zeros({1, kTokens, kWidth}, at::kDouble);
    const auto sums = attention->weights(zero, rotary).sum(-1)[0];  // [H, T]
    const auto keys = at::arange(1, kTokens + 1, at::kDouble);
    auto sinks = at::zeros({sums.size(0)}, at::kDouble);
    if (attention->named_parameters().contains("sinks")) {
      sinks = attention->named_parameters()["sinks"].detach();
    }
    CATCH_CHECK(relative_error(sums, keys / (keys + sinks.exp().unsqueeze(-1))) < 1e-9);
  }
  CATCH_CHECK(with_sink == 6);
}

CATCH_TEST_CASE("an attention that is asked for places gives their rows of the whole output") {
  const auto places = at::tensor({0, 3, 8, 11, 17}, at::kLong);  // of 2 · kTokens
  for (const auto& [form, kernels] : config::named_values<Kernels>()) {
    for (const auto& [name, config] : testing::attention_variants()) {
      CATCH_INFO(name);
      torch::manual_seed(2);
      const AttentionShape shape{kWidth, 2, true, kernels};
      const auto attention =
          std::visit([&](const auto& kind) { return kind.build(shape); }, config);
      const auto rotary = Rotary::table(kTokens, attention->rotary_dim(), 10'000, at::zeros({}));
      const auto x = at::randn({2, kTokens, kWidth});
      const auto whole = attention->forward(x, rotary).flatten(0, 1).index_select(0, places);
      const auto found = attention->forward(x, rotary, nullptr, places);
      CATCH_CHECK(found.sizes() == whole.sizes());
      CATCH_CHECK(relative_error(found, whole) < 1e-5);
    }
  }
}

CATCH_TEST_CASE("an attention depends on positions only through their differences") {
  // Rotary embedding: shifting all angles by a constant changes nothing.
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto longer =
        Rotary::table(kTokens + 5, attention->rotary_dim(), 10'000, at::zeros({}, at::kDouble));
    const auto x = at::randn({1, kTokens, kWidth}, at::kDouble);
    CATCH_CHECK(relative_error(attention->forward(x, longer.slice(5, kTokens)),
                               attention->forward(x, rotary)) < 1e-10);
    if (attention->rotary_dim() == 0) continue;
    CATCH_CHECK(relative_error(attention->forward(x, Rotary::none()),
                               attention->forward(x, rotary)) > 1e-3);
  }
}

CATCH_TEST_CASE("all kernels are the plain formulas, outputs and gradients") {
  for (const auto& [name, config] : testing::attention_variants()) {
    CATCH_INFO(name);
    for (const auto type : {at::kDouble, at::kFloat}) {
      std::vector<at::Tensor> plain;
      for (const auto& [form, kernels] : config::named_values<Kernels>()) {
        CATCH_INFO(form);
        torch::manual_seed(5);  // the same parameters and input for both
        const AttentionShape shape{kWidth, 2, true, kernels};
        const auto attention =
            std::visit([&](const auto& kind) { return kind.build(shape); }, config);
        attention->to(type);
        const auto x = at::randn({2, kTokens, kWidth}, at::kDouble).to(type).requires_grad_();
        const auto rotary =
            Rotary::table(kTokens, attention->rotary_dim(), 10'000, at::zeros({}, type));
        std::vector<at::Tensor> found;
        found.push_back(attention->forward(x, rotary));
        (found[0] * at::randn({2, kTokens, kWidth}, at::kDouble).to(type)).sum().backward();
        found.push_back(x.grad());
        for (const auto& parameter : attention->parameters()) found.push_back(parameter.grad());
        if (kernels == Kernels::kPlain) {
          plain = found;
          continue;
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
          CATCH_INFO("tensor " << i);
          // Rows of a difference without λ sum to 0, so a bias of the values has no gradient but
          // rounding; others are of order 1.
          const double error = (found[i] - plain[i]).abs().max().item<double>();
          const double size = std::max(plain[i].abs().max().item<double>(), 0.1);
          CATCH_CHECK(error / size < (type == at::kDouble ? 1e-10 : 2e-5));
        }
      }
    }
  }
}

CATCH_TEST_CASE("an attention's gradients are those of finite differences") {
  // Central differences of sum(y·w) along unit vectors: the error of the rule is of order h² =
  // 1e-10, that of rounding 1e-15/h = 1e-10, for values of order 1 and 10; hence 1e-7.
  constexpr double kStep = 1e-5;
  for (const auto& [attention, rotary, name, cost, has_sink] : all_variants()) {
    CATCH_INFO(name);
    const auto x = at::randn({1, kTokens, kWidth}, at::kDouble).requires_grad_();
    const auto w = at::randn({1, kTokens, kWidth}, at::kDouble);
    const auto loss = [&, &attn = attention, &rot = rotary] {
      return (attn->forward(x, rot) * w).sum();
    };
    loss().backward();
    auto leaves = attention->parameters();
    leaves.push_back(x);
    const at::NoGradGuard no_grad;
    for (auto& leaf : leaves) {
      // One random direction per tensor: d/dh loss(leaf + h·direction) = gradient · direction.
      auto direction = at::randn_like(leaf);
      direction /= direction.norm();
      leaf.add_(direction, kStep);
      const double above = loss().item<double>();
      leaf.sub_(direction, 2 * kStep);
      const double below = loss().item<double>();
      leaf.add_(direction, kStep);
      const double expected = (leaf.grad() * direction).sum().item<double>();
      CATCH_CHECK((above - below) / (2 * kStep) == Approx(expected).epsilon(1e-7).margin(1e-7));
    }
  }
}

CATCH_TEST_CASE("as many key/value heads as heads is the same as not asking for groups") {
  const auto same = [](auto plain, auto grouped) {
    const AttentionShape shape{kWidth, 1};
    torch::manual_seed(3);
    const auto a = plain.build(shape);
    torch::manual_seed(3);
    const auto b = grouped.build(shape);
    const auto rotary = Rotary::table(kTokens, a->rotary_dim(), 10'000, at::zeros({}));
    const auto x = at::randn({2, kTokens, kWidth});
    CATCH_CHECK(at::equal(a->forward(x, rotary), b->forward(x, rotary)));
  };
  same(SoftmaxAttentionConfig{.heads = 4}, SoftmaxAttentionConfig{.heads = 4, .kv_heads = 4});
  same(DifferentialAttentionConfig{.heads = 4},
       DifferentialAttentionConfig{.heads = 4, .kv_heads = 4});
  same(DifferentialAttentionConfig{.heads = 4},
       DifferentialAttentionConfig{.heads = 4, .key_pairing = KeyPairing::kNaive});
  same(DifferentialV2Config{.heads = 4}, DifferentialV2Config{.heads = 4, .kv_heads = 4});
}

CATCH_TEST_CASE("halves and interleaved rotary layouts differ by the order of channels alone") {
  const auto x = at::randn({2, kTokens, 3, 8}, at::kDouble);
  const auto like = at::zeros({}, at::kDouble);
  const auto interleaved = Rotary::table(kTokens, 8, 10'000, like);
  const auto halves = Rotary::table(kTokens, 8, 10'000, like, RotaryLayout::kHalves);
  const auto to_halves = [](const at::Tensor& t) {  // 2j -> j, 2j + 1 -> j + 4
    return t.unflatten(-1, {4, 2}).transpose(-1, -2).flatten(-2);
  };
  for (const auto kernels : {Kernels::kPlain, Kernels::kFused}) {
    const auto by_halves = halves.apply(to_halves(x), kernels);
    CATCH_CHECK(relative_error(by_halves, to_halves(interleaved.apply(x, kernels))) < 1e-15);
    CATCH_CHECK(relative_error(halves.apply(x, kernels), interleaved.apply(x, kernels)) > 0.1);
    CATCH_CHECK(at::equal(Rotary::none().apply(x, kernels), x));
  }
}

CATCH_TEST_CASE("the rotary kernel is the plain formula, outputs and gradients, over shapes") {
  at::manual_seed(1);
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const auto layout : {RotaryLayout::kInterleaved, RotaryLayout::kHalves}) {
      for (const std::int64_t width : {2, 4, 6, 8, 16, 34, 64}) {
        CATCH_INFO("width " << width);
        const auto all = Rotary::table(9, width, 10'000, at::zeros({}, type), layout);
        const auto part = all.slice(2, 7);
        testing::check_equal([&](const auto& in) { return part.apply(in[0], Kernels::kFused); },
                             [&](const auto& in) { return part.apply(in[0], Kernels::kPlain); },
                             {testing::leaf({3, 7, 5, width}, type)});
      }
    }
  }
  const auto table = Rotary::table(100, 16, 10'000, at::zeros({}));
  testing::check_threads([&](const auto& in) { return table.apply(in[0], Kernels::kFused); },
                         {testing::leaf({20, 100, 4, 16}, at::kFloat)});
}

}  // namespace
}  // namespace difflab
