// What every attention must do, whatever its kind. A new kind is covered by being in the variant.
#include <ATen/ATen.h>

#include "model/attention.h"
#include "model/attention_config.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

constexpr std::int64_t kWidth = 32;

struct Built {
  std::shared_ptr<Attention> attention;
  Rotary rotary;
  std::string kind;
};

template <class... Kinds>
std::vector<Built> one_of_each(std::type_identity<std::variant<Kinds...>>) {
  torch::manual_seed(0);
  std::vector<Built> all;
  const auto add = [&]<class Kind>(std::type_identity<Kind>) {
    auto attention = Kind{}.build({kWidth, 2});
    attention->to(at::kDouble);
    const auto rotary =
        Rotary::table(9, attention->rotary_dim(), 10'000, at::zeros({}, at::kDouble));
    all.push_back({attention, rotary, std::string(Kind::kKind)});
  };
  (add(std::type_identity<Kinds>{}), ...);
  return all;
}

std::vector<Built> all_kinds() { return one_of_each(std::type_identity<AttentionConfig>{}); }

CATCH_TEST_CASE("an attention keeps the shape and trains every parameter") {
  for (const auto& [attention, rotary, kind] : all_kinds()) {
    CATCH_INFO(kind);
    const auto x = at::randn({2, 9, kWidth}, at::kDouble);
    const auto y = attention->forward(x, rotary);
    CATCH_CHECK(y.sizes() == x.sizes());
    y.square().sum().backward();
    for (const auto& parameter : attention->named_parameters()) {
      CATCH_INFO(parameter.key());
      CATCH_REQUIRE(parameter.value().grad().defined());
      CATCH_CHECK(parameter.value().grad().abs().max().item<double>() > 0);
    }
  }
}

CATCH_TEST_CASE("an attention does not see the future") {
  for (const auto& [attention, rotary, kind] : all_kinds()) {
    CATCH_INFO(kind);
    auto x = at::randn({1, 9, kWidth}, at::kDouble);
    const auto before = attention->forward(x, rotary).narrow(1, 0, 5).clone();
    x.narrow(1, 5, 4).normal_();
    const auto after = attention->forward(x, rotary);
    CATCH_CHECK(testing::relative_error(after.narrow(1, 0, 5), before) < 1e-12);
    CATCH_CHECK(testing::relative_error(after.narrow(1, 5, 4), before.narrow(1, 0, 4)) > 1e-3);
  }
}

CATCH_TEST_CASE("an attention's weights are zero above the diagonal and nowhere NaN") {
  for (const auto& [attention, rotary, kind] : all_kinds()) {
    CATCH_INFO(kind);
    const auto weights = attention->weights(at::randn({2, 9, kWidth}, at::kDouble), rotary);
    CATCH_CHECK(weights.dim() == 4);
    CATCH_CHECK(weights.triu(1).abs().max().item<double>() == 0);
    CATCH_CHECK(weights.isfinite().all().item<bool>());
  }
}

CATCH_TEST_CASE("an attention depends on positions only through their differences") {
  // Rotary embedding: shifting all angles by a constant changes nothing.
  for (const auto& [attention, rotary, kind] : all_kinds()) {
    CATCH_INFO(kind);
    const auto longer =
        Rotary::table(14, attention->rotary_dim(), 10'000, at::zeros({}, at::kDouble));
    const Rotary shifted{longer.rotation.narrow(0, 5, 9)};
    const auto x = at::randn({1, 9, kWidth}, at::kDouble);
    CATCH_CHECK(testing::relative_error(attention->forward(x, shifted),
                                        attention->forward(x, rotary)) < 1e-10);
  }
}

}  // namespace
}  // namespace difflab
