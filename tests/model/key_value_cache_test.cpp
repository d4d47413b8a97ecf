// What decoding keeps between tokens, and every attention that goes on from it.
#include "model/attention/base/key_value_cache.h"

#include "config/schema/traits.h"
#include "model/attention/base/attention.h"
#include "support/attention_variants.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

using testing::relative_error;

constexpr std::int64_t kCachedWidth = 32, kCachedTokens = 9;

CATCH_TEST_CASE("an attention gives the same whether tokens come at once or through a cache") {
  for (const auto& [form, kernels] : config::named_values<Kernels>()) {
    for (const auto& [name, config] : testing::attention_variants()) {
      CATCH_INFO(name << " by " << form);
      torch::manual_seed(3);
      const AttentionShape shape{kCachedWidth, 2, true, kernels};
      const auto attention =
          std::visit([&](const auto& kind) { return kind.build(shape); }, config);
      attention->to(at::kDouble);
      const auto rotary =
          Rotary::table(kCachedTokens, attention->rotary_dim(), 10'000, at::zeros({}, at::kDouble));
      const auto x = at::randn({2, kCachedTokens, kCachedWidth}, at::kDouble);
      const at::NoGradGuard no_grad;  // with gradients, the formulas
      KeyValueCache cache;
      std::vector<at::Tensor> parts;
      std::int64_t begin = 0;
      for (const std::int64_t tokens : {4, 1, 3, 1}) {
        parts.push_back(
            attention->forward(x.narrow(1, begin, tokens), rotary.slice(begin, tokens), &cache));
        begin += tokens;
        CATCH_CHECK(cache.tokens() == begin);
      }
      const auto cost = std::visit([&](const auto& kind) { return kind.cost(shape); }, config);
      const auto of_number = static_cast<std::int64_t>(x.element_size());
      CATCH_CHECK(cache.bytes() == 2 * kCachedTokens * cost.cache_channels *
                                       of_number);  // what `difflab flops` counts
      CATCH_CHECK(relative_error(at::cat(parts, 1), attention->forward(x, rotary)) < 1e-12);
    }
  }
}

// CachedTokens of one number, as keys, and ten times that as values.
std::vector<double> append(KeyValueCache& cache, std::vector<double> tokens) {
  const auto k = at::tensor(tokens).view({1, -1, 1, 1});
  const auto [keys, values] = cache.append(k, 10 * k);
  CATCH_CHECK(values.equal(10 * keys));
  CATCH_CHECK(cache.tokens() == keys.size(1));
  CATCH_CHECK(cache.bytes() == 2 * keys.size(1) * keys.element_size());
  const auto flat = keys.flatten().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

using CachedTokens = std::vector<double>;

CATCH_TEST_CASE("a cache grows by one token or by many") {
  KeyValueCache cache;
  CATCH_CHECK(cache.bytes() == 0);
  CachedTokens all;
  for (const int count : {1, 1, 1, 5, 1, 40, 1, 1}) {
    CachedTokens more;
    for (int i = 0; i < count; ++i) more.push_back(static_cast<double>(all.size()) + i);
    all.insert(all.end(), more.begin(), more.end());
    CATCH_CHECK(append(cache, more) == all);
  }
}

CATCH_TEST_CASE("copies of a cache go on by themselves") {
  KeyValueCache first;
  append(first, {1, 2, 3});
  append(first, {4});  // there is room for more
  auto second = first;
  CATCH_CHECK(append(first, {5}) == CachedTokens{1, 2, 3, 4, 5});
  CATCH_CHECK(append(second, {6}) == CachedTokens{1, 2, 3, 4, 6});
  CATCH_CHECK(append(first, {7}) == CachedTokens{1, 2, 3, 4, 5, 7});
  auto third = second;
  third.keep(2);
  CATCH_CHECK(append(third, {8}) == CachedTokens{1, 2, 8});
  CATCH_CHECK(append(second, {9}) == CachedTokens{1, 2, 3, 4, 6, 9});
}

CATCH_TEST_CASE("a cache that forgets goes on where it was") {
  const auto k = at::arange(4).view({1, -1, 1, 1});
  const auto before = k.clone();
  KeyValueCache cache;
  cache.append(k, k);
  cache.keep(2);
  CATCH_CHECK(cache.tokens() == 2);
  const auto [keys, values] = cache.append(9 * at::ones_like(k), k);
  CATCH_CHECK(keys.flatten().equal(at::tensor({0, 1, 9, 9, 9, 9})));
  CATCH_CHECK(k.equal(before));  // what was given is not written to
  CATCH_CHECK_THROWS_AS(cache.keep(7), c10::Error);
}

CATCH_TEST_CASE("a cache goes on with what has its shape and type alone") {
  KeyValueCache cache;
  const auto k = at::ones({2, 3, 2, 4});
  cache.append(k, k);
  for (const auto& other : {at::ones({1, 1, 2, 4}), at::ones({2, 1, 1, 4}), at::ones({2, 1, 2, 1}),
                            at::ones({2, 1, 2, 4}, at::kDouble)}) {
    CATCH_CHECK_THROWS_AS(cache.append(other, other), c10::Error);
    CATCH_CHECK(cache.tokens() == 3);
  }
}

CATCH_TEST_CASE("a query behind a cache has its gradients") {
  const AttentionShape shape{kCachedWidth, 2, false, Kernels::kFused};
  const auto attention = DifferentialAttentionConfig{.heads = 1}.build(shape);
  const auto rotary = Rotary::table(4, attention->rotary_dim(), 10'000, at::zeros({}));
  KeyValueCache cache;
  attention->forward(at::randn({1, 3, kCachedWidth}), rotary.slice(0, 3), &cache);
  attention->forward(at::randn({1, 1, kCachedWidth}), rotary.slice(3, 1), &cache).sum().backward();
  CATCH_CHECK(attention->named_parameters()["q_proj.weight"].grad().abs().max().item<float>() > 0);
}

CATCH_TEST_CASE("no gradients flow through a cache") {
  const auto k = at::ones({1, 2, 1, 1}).requires_grad_();
  KeyValueCache cache;
  cache.append(k, k);
  CATCH_CHECK_FALSE(cache.append(k, k).first.requires_grad());
}

}  // namespace
}  // namespace difflab
