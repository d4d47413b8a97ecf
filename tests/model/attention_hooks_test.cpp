// What analyses see of an attention, and what they may change, whatever its kind and ablation
// (support/attention_variants.h).

#include "model/attention/base/attention.h"
#include "support/attention_variants.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

using testing::relative_error;

constexpr std::int64_t kHookWidth = 32, kHookTokens = 9;

struct Looked {
  std::shared_ptr<Attention> attention;
  Rotary rotary;
  std::string name;
  AttentionConfig config;
};

// With fused kernels, which no hook may miss.
std::vector<Looked> all_looked_at() {
  torch::manual_seed(0);
  std::vector<Looked> all;
  for (const auto& [name, config] : testing::attention_variants()) {
    const AttentionShape shape{kHookWidth, 2, true, Kernels::kFused};
    auto attention = std::visit([&](const auto& kind) { return kind.build(shape); }, config);
    for (const auto& parameter : attention->named_parameters()) {  // nothing is excluded at first
      if (parameter.key() == "xsa_alpha") at::Tensor(parameter.value()).detach().fill_(0.5);
    }
    const auto rotary = Rotary::table(kHookTokens, attention->rotary_dim(), 10'000, at::zeros({}));
    all.push_back({attention, rotary, name, config});
  }
  return all;
}

bool is_exclusive(const AttentionConfig& config) {
  return std::holds_alternative<ExclusiveAttentionConfig>(config);
}

CATCH_TEST_CASE("a head's maps are its softmax maps, and make its weights") {
  for (const auto& [attention, rotary, name, config] : all_looked_at()) {
    CATCH_INFO(name);
    const auto x = at::randn({2, kHookTokens, kHookWidth});
    const auto maps = attention->maps(x, rotary);
    const auto weights = attention->weights(x, rotary);
    const auto lambdas = attention->lambdas(x);  // [B, T, H]
    CATCH_REQUIRE(maps.size() == (lambdas.defined() ? 2 : 1));
    for (const auto& map : maps) {
      CATCH_CHECK(map.sizes() == weights.sizes());
      CATCH_CHECK(map.min().item<double>() >= 0);
      CATCH_CHECK(map.triu(1).abs().max().item<double>() == 0);
      CATCH_CHECK(map.sum(-1).max().item<double>() < 1 + 1e-5);
    }
    if (lambdas.defined()) {
      const auto made = maps[0] - lambdas.transpose(1, 2).unsqueeze(-1) * maps[1];
      CATCH_CHECK(relative_error(made, weights) < 1e-5);
    } else {  // an exclusion changes the token's own weight alone
      const auto others = is_exclusive(config) ? -1 : 0;
      CATCH_CHECK(relative_error(maps[0].tril(others), weights.tril(others)) < 1e-5);
    }
  }
}

CATCH_TEST_CASE("a weight hook sees the weights and decides what mixes the values") {
  for (const auto& [attention, rotary, name, config] : all_looked_at()) {
    CATCH_INFO(name);
    const auto x = at::randn({2, kHookTokens, kHookWidth});
    const auto before = attention->forward(x, rotary);
    const auto weights = attention->weights(x, rotary);
    const auto maps = attention->maps(x, rotary);
    std::vector<at::Tensor> seen;
    {
      const WithWeightHook looking(*attention, [&](const at::Tensor& found) {
        seen.push_back(found);
        return found;
      });
      CATCH_CHECK(relative_error(attention->forward(x, rotary), before) < 1e-4);
    }
    CATCH_REQUIRE((seen.size() == 1 || seen.size() == 2));
    const bool has_own_values = seen.size() == 2;  // each of the maps
    const bool is_map = has_own_values || is_exclusive(config);
    CATCH_CHECK(relative_error(seen[0], is_map ? maps[0] : weights) < 1e-5);
    if (has_own_values) CATCH_CHECK(relative_error(seen[1], maps[1]) < 1e-5);
    {
      // Without weights no value is left: what stays is the same at every position.
      const WithWeightHook nothing(*attention,
                                   [](const at::Tensor& found) { return at::zeros_like(found); });
      const auto after = attention->forward(x, rotary);
      CATCH_CHECK(relative_error(after, before) > 1e-2);
      CATCH_CHECK(relative_error(after.narrow(1, 1, 1), after.narrow(1, 0, 1)) < 1e-5);
    }
    CATCH_CHECK(attention->forward(x, rotary).equal(before));
  }
}

CATCH_TEST_CASE("a head hook sees every head's output before and after the norm") {
  const auto places = at::tensor({0, 3, 8, 11, 17}, at::kLong);  // of 2 · kHookTokens
  for (const auto& [attention, rotary, name, config] : all_looked_at()) {
    CATCH_INFO(name);
    const auto x = at::randn({2, kHookTokens, kHookWidth});
    const auto before = attention->forward(x, rotary);
    const auto H = attention->weights(x, rotary).size(1);
    std::vector<std::pair<HeadPoint, at::Tensor>> seen;
    {
      const WithHeadHook looking(*attention, [&](HeadPoint point, const at::Tensor& heads) {
        seen.emplace_back(point, heads);
        return heads;
      });
      CATCH_CHECK(relative_error(attention->forward(x, rotary), before) < 1e-4);
      const auto whole = before.flatten(0, 1).index_select(0, places);
      CATCH_CHECK(relative_error(attention->forward(x, rotary, nullptr, places), whole) < 1e-4);
    }
    CATCH_REQUIRE(seen.size() == 4);  // all positions each time, whatever the places
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CATCH_CHECK((seen[i].first == HeadPoint::kBeforeNorm) == (i % 2 == 0));
      const auto& heads = seen[i].second;
      CATCH_CHECK(heads.sizes().slice(0, 3) == at::IntArrayRef({2, H, kHookTokens}));
      CATCH_CHECK(relative_error(heads, seen[i % 2].second) < 1e-6);
    }
    const bool has_norm = std::visit(
        [](const auto& kind) {
          if constexpr (requires { kind.head_norm; }) return kind.head_norm != HeadNormKind::kNone;
          return false;
        },
        config);
    const auto& mixed = seen[0].second;
    const auto& normed = seen[1].second;
    if (has_norm) {  // one size for all rows beside which ε is small, as few are not at λ near 1
      const auto is_large = mixed.var({-1}, /*unbiased=*/false) > 2e-3;
      CATCH_CHECK(is_large.sum().item<std::int64_t>() > is_large.numel() / 4);
      const auto sizes = normed.square().mean(-1).masked_select(is_large);
      CATCH_CHECK(sizes.std().item<double>() < 1e-2 * sizes.mean().item<double>());
      CATCH_CHECK(relative_error(normed, mixed) > 1e-2);
    } else {  // the post-scale at most
      const auto factor = normed.norm() / mixed.norm();
      CATCH_CHECK(relative_error(normed, mixed * factor) < 1e-5);
    }
    {
      const WithHeadHook nothing(*attention, [](HeadPoint point, const at::Tensor& heads) {
        return point == HeadPoint::kAfterNorm ? at::zeros_like(heads) : heads;
      });
      const auto after = attention->forward(x, rotary);
      CATCH_CHECK(relative_error(after.narrow(1, 1, 1), after.narrow(1, 0, 1)) < 1e-5);
    }
    CATCH_CHECK(attention->forward(x, rotary).equal(before));
  }
}

}  // namespace
}  // namespace difflab
