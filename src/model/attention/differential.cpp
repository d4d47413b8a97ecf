#include "model/attention/differential.h"

#include <ATen/ATen.h>

#include "model/attention.h"
#include "model/head_norm.h"
#include "model/linear.h"

namespace difflab {
namespace {

/// The four learned vectors of one layer's λ, each [d].
struct LambdaVectors {
  at::Tensor q1, k1, q2, k2;
};

// λ = exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ_init  (arXiv 2410.05258, eq. 2); a scalar, unbounded.
at::Tensor differential_lambda(const LambdaVectors& v, double lambda_init) {
  return v.q1.dot(v.k1).exp() - v.q2.dot(v.k2).exp() + lambda_init;
}

class DifferentialAttention final : public Attention {
 public:
  DifferentialAttention(const DifferentialAttentionConfig& config, const AttentionShape& shape)
      : heads_(config.heads),
        kv_heads_(config.kv_heads.value_or(config.heads)),
        head_dim_(shape.d_model / (2 * config.heads)),
        lambda_init_(config.lambda_init.at(shape.layer)),
        scale_(config.post_scale ? 1 - lambda_init_ : 1),
        pairing_(config.key_pairing),
        q_proj_(register_module("q_proj", linear(shape.d_model, shape.d_model))),
        k_proj_(register_module("k_proj", linear(shape.d_model, 2 * kv_heads_ * head_dim_))),
        v_proj_(register_module("v_proj", linear(shape.d_model, 2 * kv_heads_ * head_dim_))),
        out_proj_(register_module("out_proj", linear(shape.d_model, shape.d_model))),
        lambda_{lambda_vector("lambda_q1", config.lambda_std),
                lambda_vector("lambda_k1", config.lambda_std),
                lambda_vector("lambda_q2", config.lambda_std),
                lambda_vector("lambda_k2", config.lambda_std)},
        subln_(register_module("subln", std::make_shared<HeadNorm>(config.head_norm, 2 * head_dim_,
                                                                   config.norm_eps))) {}

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary) override {
    const auto v = repeat_heads(split_heads(v_proj_(x), kv_heads_), groups()).transpose(1, 2);
    const auto heads = weights(x, rotary).matmul(v);                        // [B, H, T, 2d]
    const auto joined = subln_->forward(heads).transpose(1, 2).flatten(2);  // [B, T, D]
    return out_proj_(joined * scale_);
  }

  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto q = rotary.apply(split_heads(q_proj_(x), 2 * heads_));           // [B, T, 2H, d]
    const auto k = keys(rotary.apply(split_heads(k_proj_(x), 2 * kv_heads_)));  // [B, T, 2H, d]
    const auto maps = causal_map(q.transpose(1, 2), k.transpose(1, 2));         // [B, 2H, T, T]
    const auto pairs = maps.unflatten(1, {heads_, 2}).unbind(2);                // 2 × [B, H, T, T]
    return pairs[0] - differential_lambda(lambda_, lambda_init_) * pairs[1];
  }

  std::int64_t rotary_dim() const override { return head_dim_; }

  std::vector<std::pair<std::string, double>> statistics() const override {
    return {{"lambda", differential_lambda(lambda_, lambda_init_).item<double>()}};
  }

 private:
  std::int64_t groups() const { return heads_ / kv_heads_; }

  // Gives every query sub-head its key sub-head: [B, T, 2H_kv, d] -> [B, T, 2H, d].
  at::Tensor keys(const at::Tensor& k) const {
    if (pairing_ == KeyPairing::kNaive) return repeat_heads(k, groups());
    return repeat_heads(k.unflatten(2, {kv_heads_, 2}), groups()).flatten(2, 3);
  }

  at::Tensor lambda_vector(const char* name, double std) {
    return register_parameter(name, at::randn(head_dim_) * std);
  }

  std::int64_t heads_, kv_heads_, head_dim_;
  double lambda_init_, scale_;
  KeyPairing pairing_;
  torch::nn::Linear q_proj_, k_proj_, v_proj_, out_proj_;
  LambdaVectors lambda_;
  std::shared_ptr<HeadNorm> subln_;  // over the 2d channels of a head
};

}  // namespace

std::shared_ptr<Attention> DifferentialAttentionConfig::build(const AttentionShape& shape) const {
  return std::make_shared<DifferentialAttention>(*this, shape);
}

}  // namespace difflab
