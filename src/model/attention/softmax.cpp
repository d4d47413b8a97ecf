#include "model/attention/softmax.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"
#include "model/attention/base/controls.h"
#include "model/attention/base/head_norm.h"
#include "model/layer/linear.h"

namespace difflab {
namespace {

constexpr double kSmallestValue = 1e-4;  // |v| below which a value has no direction

/// Base of the kinds that have one softmax map for each head.
class OneMapAttention : public Attention {
 public:
  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs(x, rotary);
    return map(in.q, in.k);
  }

  std::int64_t rotary_dim() const override { return head_dim_; }

  void initialise(const std::function<Random(const std::string& name)>& stream) override {
    controls_->initialise(stream);
  }

 protected:
  /// Controls come last: what a kind has beside the projections is registered before theirs.
  OneMapAttention(const SoftmaxAttentionConfig& config, const AttentionShape& shape)
      : heads_(config.heads),
        kv_heads_(config.kv_heads.value_or(config.heads)),
        head_dim_(config.head_dim.value_or(shape.d_model / config.heads)),
        kernels_(shape.kernels) {
    const auto D = shape.d_model, kv_width = kv_heads_ * head_dim_;
    q_proj_ = register_module("q_proj", Linear(D, heads_ * head_dim_, shape.bias, kernels_));
    k_proj_ = register_module("k_proj", Linear(D, kv_width, shape.bias, kernels_));
    v_proj_ = register_module("v_proj", Linear(D, kv_width, shape.bias, kernels_));
    out_proj_ = register_module("out_proj", Linear(heads_ * head_dim_, D, shape.bias, kernels_));
  }

  struct Inputs {
    at::Tensor q, k, v;  // [B, T, H, d], [B, T, H_kv, d] twice
    at::Tensor gate;     // [B, T, …]; undefined without one
  };

  Inputs inputs(const at::Tensor& x, const Rotary& rotary) const {
    const auto projected = project(x, controls_->with_gate({q_proj_, k_proj_, v_proj_}));
    const auto q = controls_->queries(split_heads(projected[0], heads_));
    const auto k = controls_->keys(split_heads(projected[1], kv_heads_));
    return {.q = rotary.apply(q, kernels_),
            .k = rotary.apply(k, kernels_),
            .v = split_heads(projected[2], kv_heads_),
            .gate = controls_->gate_of(projected)};
  }

  at::Tensor map(const at::Tensor& q, const at::Tensor& k) const {  // [B, H, T_q, T]
    return causal_map(q.transpose(1, 2), repeat(k), controls_->sinks(q));
  }

  // By kernels that store no map: [B, T, H, d], or at places [n, H, d].
  at::Tensor attended(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& places = {}) const {
    return attend_at(places, q, k, v, {}, one_map_per_head(heads_, kv_heads_), controls_->sinks(q));
  }

  // Gates and projects the joined heads at these places.
  at::Tensor out(const at::Tensor& joined, const Inputs& in, const at::Tensor& places) {
    return out_proj_(controls_->gated(joined, in.gate, places));
  }

  // Gives every query head its group's keys or values: [B, T, H_kv, d] -> [B, H, T, d].
  at::Tensor repeat(const at::Tensor& x) const {
    return repeat_heads(x, heads_ / kv_heads_).transpose(1, 2);
  }

  std::int64_t heads_, kv_heads_, head_dim_;
  Kernels kernels_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, out_proj_{nullptr};
  std::optional<Controls> controls_;
};

class SoftmaxAttention final : public OneMapAttention {
 public:
  SoftmaxAttention(const SoftmaxAttentionConfig& config, const AttentionShape& shape)
      : OneMapAttention(config, shape),
        subln_(register_module("subln", std::make_shared<HeadNorm>(config.head_norm, head_dim_,
                                                                   config.norm_eps, kernels_))) {
    controls_.emplace(*this, config.controls, config.control_shape(shape.d_model), kernels_);
  }

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache,
                     const at::Tensor& places) override {
    const auto in = inputs(x, rotary);
    const bool fused = uses_fused(kernels_, x, cache);
    const auto [k, v] = with_earlier(cache, in.k, in.v);
    if (fused) {
      const auto heads = attended(in.q, k, v, places);
      return out(subln_->forward(heads).flatten(-2), in, places);
    }
    const auto mixed = after_weight_hook(map(in.q, k)).matmul(repeat(v));  // [B, H, T, d]
    const auto heads = subln_->forward(after_head_hook(HeadPoint::kBeforeNorm, mixed));
    const auto outputs = after_head_hook(HeadPoint::kAfterNorm, heads);
    return out(at_places(join_heads(outputs), places), in, places);
  }

 private:
  std::shared_ptr<HeadNorm> subln_;
};

class ExclusiveAttention final : public OneMapAttention {
 public:
  ExclusiveAttention(const ExclusiveAttentionConfig& config, const AttentionShape& shape)
      : OneMapAttention(config.softmax(), shape),
        alpha_(register_parameter("xsa_alpha", at::zeros({heads_}))) {
    const auto controlled = config.softmax().control_shape(shape.d_model);
    controls_.emplace(*this, config.controls, controlled, kernels_);
  }

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache,
                     const at::Tensor& places) override {
    const auto in = inputs(x, rotary);
    const bool fused = uses_fused(kernels_, x, cache);
    const auto [k, v] = with_earlier(cache, in.k, in.v);
    const auto heads =
        fused ? attended(in.q, k, v)
              : after_weight_hook(map(in.q, k)).matmul(repeat(v)).transpose(1, 2);  // [B, T, H, d]
    const auto own = repeat_heads(in.v, heads_ / kv_heads_);
    return out(outputs_of(heads, own, places).flatten(-2), in, places);
  }

  /// The token's own weight is the smaller by what is subtracted.
  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs(x, rotary);
    const auto maps = map(in.q, in.k);
    const auto values = repeat(in.v);  // [B, H, T, d]
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
  // a − tanh(α) (a · u) u, u = v / |v|: heads and values [..., H, d].
  at::Tensor excluded(const at::Tensor& heads, const at::Tensor& values) const {
    const auto least = kSmallestValue * kSmallestValue;
    const auto u = values * values.square().sum(-1, true).clamp_min(least).rsqrt();
    const auto strength = alpha_.tanh().to(heads.scalar_type()).unsqueeze(-1);  // [H, 1]
    return heads - strength * (heads * u).sum(-1, true) * u;
  }

  // Heads and values [B, T, H, d] -> what the gate reads at these places. A hook sees all places.
  at::Tensor outputs_of(const at::Tensor& heads, const at::Tensor& values,
                        const at::Tensor& places) const {
    if (!has_head_hook()) return excluded(at_places(heads, places), at_places(values, places));
    auto outputs = excluded(heads, values).transpose(1, 2);
    for (const auto point : {HeadPoint::kBeforeNorm, HeadPoint::kAfterNorm}) {
      outputs = after_head_hook(point, outputs);
    }
    return at_places(outputs.transpose(1, 2), places);
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
