#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/attention/attention_config.h"
#include "util/text.h"

namespace difflab::testing {

/// Every kind with its defaults, then each ablation of the literature, for widths that 16 divides.
/// A new kind is covered by being in the variant; a new ablation by a line here.
template <class... Kinds>
void add_defaults(std::vector<std::pair<std::string, AttentionConfig>>& all,
                  std::type_identity<std::variant<Kinds...>>) {
  (all.emplace_back(std::string(Kinds::kKind), Kinds{}), ...);
}

inline std::vector<std::pair<std::string, AttentionConfig>> attention_variants() {
  using V1 = DifferentialAttentionConfig;
  using V2 = DifferentialV2Config;
  std::vector<std::pair<std::string, AttentionConfig>> all;
  add_defaults(all, std::type_identity<AttentionConfig>{});
  const auto add = [&](const char* name, AttentionConfig config) {
    all.emplace_back(name, config);
  };
  add("softmax gqa", SoftmaxAttentionConfig{.heads = 4, .kv_heads = 2});
  add("softmax 1.5 heads", SoftmaxAttentionConfig{.heads = 6, .head_dim = 8});
  add("softmax rms", SoftmaxAttentionConfig{.head_norm = HeadNormKind::kRms});
  add("softmax group", SoftmaxAttentionConfig{.head_norm = HeadNormKind::kGroup});
  add("diff_v1 gqa", V1{.heads = 4, .kv_heads = 2});
  add("diff_v1 naive gqa", V1{.heads = 4, .kv_heads = 2, .key_pairing = KeyPairing::kNaive});
  add("diff_v1 no norm", V1{.head_norm = HeadNormKind::kNone});
  add("diff_v1 group norm", V1{.head_norm = HeadNormKind::kGroup});
  add("diff_v1 no post-scale", V1{.post_scale = false});
  add("diff_v1 constant init", V1{.lambda_init = LambdaInit(0.5)});
  add("diff_v1 listed init", V1{.lambda_init = LambdaInit(std::vector{0.1, 0.2, 0.7})});
  add("diff_v1 scalar", V1{.lambda_form = LambdaForm::kScalar});
  add("diff_v1 scalar exponential", V1{.lambda_form = LambdaForm::kScalarExponential});
  add("diff_v1 scalar exponential per head",
      V1{.lambda_form = LambdaForm::kScalarExponential, .lambda_per = LambdaScope::kHead});
  add("diff_v1 constant", V1{.lambda_form = LambdaForm::kConstant});
  add("diff_v1 per head", V1{.lambda_per = LambdaScope::kHead});
  add("diff_v1 per token", V1{.lambda_per = LambdaScope::kToken});
  add("diff_v1 per token symmetric", V1{.lambda_per = LambdaScope::kToken, .symmetric = true});
  add("diff_v1 scalar per head",
      V1{.lambda_form = LambdaForm::kScalar, .lambda_per = LambdaScope::kHead});
  add("diff_v1 symmetric", V1{.symmetric = true});
  add("diff_v1 narrow heads", V1{.head_dim = 4});
  add("diff_v1 2 signals", V1{.heads = 4, .signal_per_noise = 2});
  add("diff_v1 3 signals",
      V1{.heads = 6, .signal_per_noise = 3, .head_dim = 4, .lambda_init = LambdaInit::motif()});
  add("diff_v1 3 signals gqa per head", V1{.heads = 12,
                                           .kv_heads = 2,
                                           .signal_per_noise = 3,
                                           .head_dim = 4,
                                           .lambda_per = LambdaScope::kHead});
  add("diff_v2 gqa", V2{.kv_heads = 2});
  add("diff_v2 wide heads", V2{.heads = 2, .head_dim = 12});
  add("diff_v2 halves", V2{.kv_heads = 2, .pairing = QueryPairing::kHalves});
  add("diff_v2 across groups", V2{.kv_heads = 2, .pairing = QueryPairing::kAcrossGroups});
  add("diff_v2 linear", V2{.lambda = TokenLambda::kLinear});
  add("diff_v2 no lambda", V2{.lambda = TokenLambda::kNone});
  add("diff_v2 rms", V2{.head_norm = HeadNormKind::kRms});
  add("diff_v2 3 signals", V2{.heads = 3, .signal_per_noise = 3, .head_dim = 6});
  add("diff_v2 2 signals gqa", V2{.heads = 8, .kv_heads = 2, .signal_per_noise = 2});
  add("diff_v2 2 signals no lambda", V2{.signal_per_noise = 2, .lambda = TokenLambda::kNone});
  const auto add_controlled = [&](const char* name, auto config) {
    const auto with = [&](const char* control, const AttentionControls& controls) {
      config.controls = controls;
      all.emplace_back(concat(name, " ", control), config);
    };
    with("head gate", {.gate = HeadGate::kHead});
    with("element gate", {.gate = HeadGate::kElement});
    with("off by one", {.sink = AttentionSink::kOffByOne});
    with("learned sinks", {.sink = AttentionSink::kLearned});
    with("qk norm", {.qk_norm = QkNorm::kRms});
    with("all controls", {HeadGate::kHead, AttentionSink::kLearned, QkNorm::kRms});
  };
  add_controlled("softmax", SoftmaxAttentionConfig{.heads = 4, .kv_heads = 2});
  add_controlled("diff_v1", V1{.heads = 4, .kv_heads = 2});
  add_controlled("diff_v1 symmetric", V1{.symmetric = true});
  add_controlled("diff_v2", V2{.kv_heads = 2});
  add_controlled("diff_v1 2 signals", V1{.heads = 4, .kv_heads = 1, .signal_per_noise = 2});
  add_controlled("diff_v2 2 signals", V2{.heads = 4, .kv_heads = 1, .signal_per_noise = 2});
  add_controlled("xsa", ExclusiveAttentionConfig{.heads = 4, .kv_heads = 2});
  add_controlled("diff_v2 halves", V2{.kv_heads = 2, .pairing = QueryPairing::kHalves});
  add("diff_v1 positive", V1{.lambda_sign = LambdaSign::kPositive});
  add("diff_v1 positive scalar per head", V1{.lambda_form = LambdaForm::kScalar,
                                             .lambda_per = LambdaScope::kHead,
                                             .lambda_sign = LambdaSign::kPositive});
  return all;
}

}  // namespace difflab::testing
