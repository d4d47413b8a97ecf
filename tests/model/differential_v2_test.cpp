#include "model/attention/differential_v2.h"

#include "model/attention/base/attention.h"
#include "support/catch.h"
#include "support/tensors.h"

namespace difflab {
namespace {

constexpr std::int64_t kV2Width = 16, kV2Heads = 4, kGroups = 2, kV2Tokens = 6;  // d = 4

// The note's pseudo-code, one head at a time: query head j reads key/value head j / (2H/H_kv).
at::Tensor by_hand(const Attention& attention, const at::Tensor& x, const Rotary& rotary,
                   std::vector<std::pair<int, int>> pairs, TokenLambda form, std::int64_t groups) {
  const auto parameters = attention.named_parameters();
  const auto project = [&](const char* name) { return x.matmul(parameters[name].t()); };
  const auto head = [&](const at::Tensor& all, std::int64_t i, bool turn) {  // [B, T, 4]
    const auto one = all.narrow(2, 4 * i, 4);
    return turn ? rotary.apply(one.unsqueeze(2), Kernels::kPlain).squeeze(2) : one;
  };
  const auto q = project("q_proj.weight"), k = project("k_proj.weight"),
             v = project("v_proj.weight");
  const auto mask = at::full({kV2Tokens, kV2Tokens}, -INFINITY, at::kDouble).triu(1);
  const auto attend = [&](std::int64_t j) {
    const auto group = j / (2 * kV2Heads / groups);
    const auto scores = head(q, j, true).matmul(head(k, group, true).transpose(1, 2)) / 2.0 + mask;
    return at::softmax(scores, -1).matmul(head(v, group, false));
  };
  std::vector<at::Tensor> heads;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto lambda = at::ones({1, kV2Tokens, 1}, at::kDouble);
    if (form != TokenLambda::kNone) {
      lambda = project("lambda_proj.weight").narrow(2, static_cast<std::int64_t>(i), 1);
      if (form == TokenLambda::kSigmoid) lambda = 1 / (1 + (-lambda).exp());
    }
    heads.push_back(attend(pairs[i].first) - lambda * attend(pairs[i].second));
  }
  return at::cat(heads, -1).matmul(parameters["o_proj.weight"].t());
}

void check(DifferentialV2Config config, std::vector<std::pair<int, int>> pairs,
           std::int64_t groups = kGroups) {
  torch::manual_seed(1);
  config.heads = kV2Heads;
  config.kv_heads = groups;
  const auto attention = config.build({kV2Width, 0});
  attention->to(at::kDouble);
  const auto rotary = Rotary::table(kV2Tokens, 4, 10'000, at::zeros({}, at::kDouble));
  const auto x = at::randn({1, kV2Tokens, kV2Width}, at::kDouble);
  CATCH_CHECK(testing::relative_error(
                  attention->forward(x, rotary),
                  by_hand(*attention, x, rotary, pairs, config.lambda, groups)) < 1e-12);
}

// 8 query heads, 0-3 of the first group and 4-7 of the second.
CATCH_TEST_CASE(
    "DIFF V2 subtracts, from the first map of a pair, λ of the token times the second") {
  check({}, {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
}

CATCH_TEST_CASE("the ablations of DIFF V2 change the pairs and λ, and nothing else") {
  check({.pairing = QueryPairing::kHalves}, {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  check({.pairing = QueryPairing::kAcrossGroups}, {{0, 5}, {2, 7}, {4, 1}, {6, 3}});
  // Of four groups each pairs with the next; of two the one before is the same.
  check({.pairing = QueryPairing::kAcrossGroups}, {{0, 3}, {2, 5}, {4, 7}, {6, 1}}, 4);
  check({.lambda = TokenLambda::kLinear}, {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  check({.lambda = TokenLambda::kNone}, {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
}

}  // namespace
}  // namespace difflab
