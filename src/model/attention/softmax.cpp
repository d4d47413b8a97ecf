#include "model/attention/softmax.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"

namespace difflab {
namespace {

constexpr double kSmallestValue = 1e-4;  // |v| below which a value has no direction

/// Base of the kinds that have one softmax map for each head.
class OneMapAttention : public Attention {
 protected:
  OneMapAttention(const SoftmaxAttentionConfig& config, const AttentionShape& shape)
      : Attention(shape),
        heads_(config.heads),
        kv_heads_(config.kv_heads.value_or(config.heads)),
        head_dim_(config.head_dim.value_or(shape.d_model / config.heads)) {
    const auto D = shape.d_model;
    q_proj_ = linear("q_proj", D, heads_ * head_dim_);
    k_proj_ = linear("k_proj", D, kv_heads_ * head_dim_);
    v_proj_ = linear("v_proj", D, kv_heads_ * head_dim_);
    out_proj_ = linear("out_proj", heads_ * head_dim_, D);
  }

  Inputs inputs(const std::vector<at::Tensor>& projected, const Rotary& rotary) const override {
    return {.q = queries(projected[0], heads_, rotary),
            .k = keys(projected[1], kv_heads_, rotary),
            .v = split_heads(projected[2], kv_heads_)};
  }

  kernel::HeadMap head_map() const override { return one_map_per_head(heads_, kv_heads_); }

  std::int64_t heads_, kv_heads_, head_dim_;
};

class SoftmaxAttention final : public OneMapAttention {
 public:
  SoftmaxAttention(const SoftmaxAttentionConfig& config, const AttentionShape& shape)
      : OneMapAttention(config, shape) {
    add_head_norm(config.head_norm, head_dim_, config.norm_eps);
    add_controls(config.controls, config.control_shape(shape.d_model));
  }
};

class ExclusiveAttention final : public OneMapAttention {
 public:
  ExclusiveAttention(const ExclusiveAttentionConfig& config, const AttentionShape& shape)
      : OneMapAttention(config.softmax(), shape),
        alpha_(register_parameter("xsa_alpha", at::zeros({heads_}))) {
    add_controls(config.controls, config.softmax().control_shape(shape.d_model));
  }

  /// The token's own weight is the smaller by what is subtracted.
  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs_of(x, rotary);
    const auto maps = map_of(in, in.k);
    const auto values = repeat_heads(in.v, heads_ / kv_heads_).transpose(1, 2);  // [B, H, T, d]
    const auto own = (maps.matmul(values) * values).sum(-1) /
                     values.square().sum(-1).clamp_min(kSmallestValue * kSmallestValue);
    return maps - at::diag_embed(own * alpha_.tanh().to(own.scalar_type()).unsqueeze(-1));
  }

  std::vector<at::Tensor> maps(const at::Tensor& x, const Rotary& rotary) override {
    return {OneMapAttention::weights(x, rotary)};
  }

  void initialise(const std::function<Random(const std::string& name)>& stream) override {
    alpha_.zero_();
    OneMapAttention::initialise(stream);
  }

  std::vector<std::pair<std::string, double>> statistics() const override {
    const at::NoGradGuard no_grad;
    return {{"exclusion", alpha_.tanh().mean().item<double>()}};
  }

 private:
  at::Tensor mix(const Inputs& in, const at::Tensor& k, const at::Tensor& v) const override {
    return excluded(OneMapAttention::mix(in, k, v).transpose(1, 2), in, {}).transpose(1, 2);
  }

  at::Tensor attended(const Inputs& in, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& places) const override {
    return excluded(OneMapAttention::attended(in, k, v, places), in, places);
  }

  // a − tanh(α) (a · u) u, u = v / |v|, v being each token's own value: heads [B, T, H, d], or at
  // places [n, H, d].
  at::Tensor excluded(const at::Tensor& heads, const Inputs& in, const at::Tensor& places) const {
    const auto values = at_places(repeat_heads(in.v, heads_ / kv_heads_), places);
    const auto least = kSmallestValue * kSmallestValue;
    const auto u = values * values.square().sum(-1, true).clamp_min(least).rsqrt();
    const auto strength = alpha_.tanh().to(heads.scalar_type()).unsqueeze(-1);  // [H, 1]
    return heads - strength * (heads * u).sum(-1, true) * u;
  }

  at::Tensor alpha_;  // [H]
};

}  // namespace

std::shared_ptr<Attention> SoftmaxAttentionConfig::build(const AttentionShape& shape) const {
  return std::make_shared<SoftmaxAttention>(*this, shape);
}

std::shared_ptr<Attention> ExclusiveAttentionConfig::build(const AttentionShape& shape) const {
  return std::make_shared<ExclusiveAttention>(*this, shape);
}

}  // namespace difflab
