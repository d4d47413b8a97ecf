#include "model/attention/softmax.h"

#include <ATen/ATen.h>

#include "model/attention.h"
#include "model/head_norm.h"
#include "model/linear.h"

namespace difflab {
namespace {

class SoftmaxAttention final : public Attention {
 public:
  SoftmaxAttention(const SoftmaxAttentionConfig& config, const AttentionShape& shape)
      : heads_(config.heads),
        kv_heads_(config.kv_heads.value_or(config.heads)),
        head_dim_(shape.d_model / config.heads),
        q_proj_(register_module("q_proj", linear(shape.d_model, shape.d_model))),
        k_proj_(register_module("k_proj", linear(shape.d_model, kv_heads_ * head_dim_))),
        v_proj_(register_module("v_proj", linear(shape.d_model, kv_heads_ * head_dim_))),
        out_proj_(register_module("out_proj", linear(shape.d_model, shape.d_model))),
        subln_(register_module(
            "subln", std::make_shared<HeadNorm>(config.head_norm, head_dim_, config.norm_eps))) {}

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary) override {
    const auto v = repeat(split_heads(v_proj_(x), kv_heads_));            // [B, H, T, d]
    const auto heads = weights(x, rotary).matmul(v);                      // [B, H, T, d]
    return out_proj_(subln_->forward(heads).transpose(1, 2).flatten(2));  // [B, T, D]
  }

  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto q = rotary.apply(split_heads(q_proj_(x), heads_)).transpose(1, 2);  // [B, H, T, d]
    const auto k = repeat(rotary.apply(split_heads(k_proj_(x), kv_heads_)));       // [B, H, T, d]
    return causal_map(q, k);
  }

  std::int64_t rotary_dim() const override { return head_dim_; }

 private:
  // Gives every query head its group's keys or values: [B, T, H_kv, d] -> [B, H, T, d].
  at::Tensor repeat(const at::Tensor& x) const {
    return repeat_heads(x, heads_ / kv_heads_).transpose(1, 2);
  }

  std::int64_t heads_, kv_heads_, head_dim_;
  torch::nn::Linear q_proj_, k_proj_, v_proj_, out_proj_;
  std::shared_ptr<HeadNorm> subln_;
};

}  // namespace

std::shared_ptr<Attention> SoftmaxAttentionConfig::build(const AttentionShape& shape) const {
  return std::make_shared<SoftmaxAttention>(*this, shape);
}

}  // namespace difflab
