#include "model/attention/differential_v2.h"

#include <ATen/ATen.h>

#include "model/attention.h"
#include "model/linear.h"

namespace difflab {
namespace {

class DifferentialV2Attention final : public Attention {
 public:
  DifferentialV2Attention(const DifferentialV2Config& config, const AttentionShape& shape)
      : heads_(config.heads),
        kv_heads_(config.kv_heads.value_or(config.heads)),
        head_dim_(config.head_dim.value_or(shape.d_model / config.heads)),
        q_proj_(register_module("q_proj", linear(shape.d_model, 2 * heads_ * head_dim_))),
        k_proj_(register_module("k_proj", linear(shape.d_model, kv_heads_ * head_dim_))),
        v_proj_(register_module("v_proj", linear(shape.d_model, kv_heads_ * head_dim_))),
        o_proj_(register_module("o_proj", linear(heads_ * head_dim_, shape.d_model))),
        lambda_proj_(register_module("lambda_proj", linear(shape.d_model, heads_))) {}

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary) override {
    const auto v = repeat(split_heads(v_proj_(x), kv_heads_));  // [B, 2H, T, d]
    const auto pairs = maps(x, rotary).matmul(v).unflatten(1, {heads_, 2}).unbind(2);
    const auto heads = pairs[0] - lambda(x).unsqueeze(-1) * pairs[1];  // [B, H, T, d]
    return o_proj_(heads.transpose(1, 2).flatten(2));                  // [B, T, D]
  }

  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto pairs = maps(x, rotary).unflatten(1, {heads_, 2}).unbind(2);  // [B, H, T, T]
    return pairs[0] - lambda(x).unsqueeze(-1) * pairs[1];
  }

  std::int64_t rotary_dim() const override { return head_dim_; }

 private:
  at::Tensor maps(const at::Tensor& x, const Rotary& rotary) {  // [B, 2H, T, T]
    const auto q = rotary.apply(split_heads(q_proj_(x), 2 * heads_)).transpose(1, 2);
    return causal_map(q, repeat(rotary.apply(split_heads(k_proj_(x), kv_heads_))));
  }

  at::Tensor lambda(const at::Tensor& x) {  // [B, H, T]
    return lambda_proj_(x).sigmoid().transpose(1, 2);
  }

  // Query head j reads key/value head j / (2H/H_kv): [B, T, H_kv, d] -> [B, 2H, T, d].
  at::Tensor repeat(const at::Tensor& x) const {
    return repeat_heads(x, 2 * heads_ / kv_heads_).transpose(1, 2);
  }

  std::int64_t heads_, kv_heads_, head_dim_;
  torch::nn::Linear q_proj_, k_proj_, v_proj_, o_proj_, lambda_proj_;
};

}  // namespace

std::shared_ptr<Attention> DifferentialV2Config::build(const AttentionShape& shape) const {
  return std::make_shared<DifferentialV2Attention>(*this, shape);
}

}  // namespace difflab
