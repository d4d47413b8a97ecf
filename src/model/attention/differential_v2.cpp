#include "model/attention/differential_v2.h"

#include <ATen/ATen.h>

#include "kernel/fused_attention.h"
#include "model/attention.h"
#include "model/head_norm.h"
#include "model/linear.h"

namespace difflab {
namespace {

class DifferentialV2Attention final : public Attention {
 public:
  DifferentialV2Attention(const DifferentialV2Config& config, const AttentionShape& shape)
      : heads_(config.heads),
        kv_heads_(config.kv_heads.value_or(config.heads)),
        head_dim_(config.head_dim.value_or(shape.d_model / config.heads)),
        pairing_(config.pairing),
        kernels_(shape.kernels),
        lambda_(config.lambda) {
    const auto D = shape.d_model, kv_width = kv_heads_ * head_dim_;
    q_proj_ =
        register_module("q_proj", Linear(D, 2 * heads_ * head_dim_, shape.bias, shape.kernels));
    k_proj_ = register_module("k_proj", Linear(D, kv_width, shape.bias, shape.kernels));
    v_proj_ = register_module("v_proj", Linear(D, kv_width, shape.bias, shape.kernels));
    o_proj_ = register_module("o_proj", Linear(heads_ * head_dim_, D, shape.bias, shape.kernels));
    if (lambda_ != TokenLambda::kNone) {
      lambda_proj_ =
          register_module("lambda_proj", Linear(D, heads_, /*bias=*/false, shape.kernels));
    }
    subln_ = register_module("subln", std::make_shared<HeadNorm>(config.head_norm, head_dim_,
                                                                 config.norm_eps, shape.kernels));
  }

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache) override {
    if (uses_fused(kernels_, x, cache)) {
      return o_proj_(subln_->forward(fused(x, rotary)).flatten(2));
    }
    const auto [k, v] = with_earlier(cache, keys(x, rotary), split_heads(v_proj_(x), kv_heads_));
    const auto mixed = maps(queries(x, rotary), k).matmul(repeat(v));   // [B, 2H, T, d]
    return o_proj_(join_heads(subln_->forward(difference(mixed, x))));  // [B, T, D]
  }

  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    return difference(maps(queries(x, rotary), keys(x, rotary)), x);
  }

  at::Tensor lambdas(const at::Tensor& x) override { return lambda_of(x); }

  std::int64_t rotary_dim() const override { return head_dim_; }

 private:
  at::Tensor queries(const at::Tensor& x, const Rotary& rotary) {  // [B, T, 2H, d]
    return rotary.apply(split_heads(q_proj_(x), 2 * heads_), kernels_);
  }
  at::Tensor keys(const at::Tensor& x, const Rotary& rotary) {  // [B, T, H_kv, d]
    return rotary.apply(split_heads(k_proj_(x), kv_heads_), kernels_);
  }
  at::Tensor maps(const at::Tensor& q, const at::Tensor& k) const {  // [B, 2H, T_q, T]
    return causal_map(q.transpose(1, 2), repeat(k));
  }

  // a_first − λ · a_second of every pair: [B, 2H, T, n] -> [B, H, T, n].
  at::Tensor difference(const at::Tensor& a, const at::Tensor& x) {
    const auto [first, second] = pairs(a);
    if (lambda_ == TokenLambda::kNone) return first - second;
    return first - lambda_of(x).transpose(1, 2).unsqueeze(-1) * second;
  }

  at::Tensor lambda_of(const at::Tensor& x) {  // [B, T, H]
    if (lambda_ == TokenLambda::kNone) return at::ones({x.size(0), x.size(1), heads_}, x.options());
    const auto logits = lambda_proj_(x);
    return lambda_ == TokenLambda::kSigmoid ? logits.sigmoid() : logits;
  }

  // All heads [B, T, H, d]. Maps of one group share its values and are subtracted before they are
  // applied; other pairs are heads of their own first.
  at::Tensor fused(const at::Tensor& x, const Rotary& rotary) {
    const auto q = queries(x, rotary), k = keys(x, rotary);
    const auto v = split_heads(v_proj_(x), kv_heads_);
    if (pairing_ == QueryPairing::kInterleaved) {
      return kernel::fused_attention(q, k, v, lambda_of(x).transpose(1, 2), head_map(heads_));
    }
    const auto mixed = kernel::fused_attention(q, k, v, {}, head_map(2 * heads_));
    return difference(mixed.transpose(1, 2), x).transpose(1, 2);
  }

  // Of H pairs, or of 2H heads for themselves.
  kernel::HeadMap head_map(std::int64_t outputs) const {
    kernel::HeadMap map;
    const bool pairs = outputs == heads_;
    for (std::int64_t i = 0; i < outputs; ++i) {
      const auto group = i * kv_heads_ / outputs;
      map.q1.push_back(pairs ? 2 * i : i);
      map.k1.push_back(group);
      map.v.push_back(group);
      if (!pairs) continue;
      map.q2.push_back(2 * i + 1);
      map.k2.push_back(group);
    }
    return map;
  }

  // The first and the second heads of all pairs, [B, H, T, n] each.
  std::pair<at::Tensor, at::Tensor> pairs(const at::Tensor& a) const {
    if (pairing_ == QueryPairing::kHalves) {
      return {a.narrow(1, 0, heads_), a.narrow(1, heads_, heads_)};
    }
    const auto interleaved = a.unflatten(1, {heads_, 2}).unbind(2);
    if (pairing_ == QueryPairing::kInterleaved) return {interleaved[0], interleaved[1]};
    return {interleaved[0], interleaved[1].roll(-heads_ / kv_heads_, 1)};
  }

  // Query head j reads key/value head j / (2H/H_kv): [B, T, H_kv, d] -> [B, 2H, T, d].
  at::Tensor repeat(const at::Tensor& x) const {
    return repeat_heads(x, 2 * heads_ / kv_heads_).transpose(1, 2);
  }

  std::int64_t heads_, kv_heads_, head_dim_;
  QueryPairing pairing_;
  Kernels kernels_;
  TokenLambda lambda_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, o_proj_{nullptr},
      lambda_proj_{nullptr};
  std::shared_ptr<HeadNorm> subln_;
};

}  // namespace

std::shared_ptr<Attention> DifferentialV2Config::build(const AttentionShape& shape) const {
  return std::make_shared<DifferentialV2Attention>(*this, shape);
}

}  // namespace difflab
