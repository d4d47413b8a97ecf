#include "model/attention/softmax.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"
#include "model/attention/base/controls.h"
#include "model/attention/base/head_norm.h"
#include "model/layer/linear.h"
#include "model/layer/places.h"

namespace difflab {
namespace {

class SoftmaxAttention final : public Attention {
 public:
  SoftmaxAttention(const SoftmaxAttentionConfig& config, const AttentionShape& shape)
      : heads_(config.heads),
        kv_heads_(config.kv_heads.value_or(config.heads)),
        head_dim_(config.head_dim.value_or(shape.d_model / config.heads)),
        kernels_(shape.kernels),
        q_proj_(register_module(
            "q_proj", Linear(shape.d_model, heads_ * head_dim_, shape.bias, shape.kernels))),
        k_proj_(register_module(
            "k_proj", Linear(shape.d_model, kv_heads_ * head_dim_, shape.bias, shape.kernels))),
        v_proj_(register_module(
            "v_proj", Linear(shape.d_model, kv_heads_ * head_dim_, shape.bias, shape.kernels))),
        out_proj_(register_module(
            "out_proj", Linear(heads_ * head_dim_, shape.d_model, shape.bias, shape.kernels))),
        subln_(
            register_module("subln", std::make_shared<HeadNorm>(config.head_norm, head_dim_,
                                                                config.norm_eps, shape.kernels))),
        controls_(*this, config.controls, config.control_shape(shape.d_model), shape.kernels) {}

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache,
                     const at::Tensor& places) override {
    const auto in = inputs(x, rotary);
    const bool fused = uses_fused(kernels_, x, cache);
    const auto [k, v] = with_earlier(cache, in.k, in.v);
    if (fused) {
      const auto heads =
          attend(in.q, k, v, {}, one_map_per_head(heads_, kv_heads_), controls_.sinks(in.q));
      return out(subln_->forward(at_places(heads, places)).flatten(-2), in, places);
    }
    const auto mixed = after_weight_hook(map(in.q, k)).matmul(repeat(v));  // [B, H, T, d]
    const auto heads = subln_->forward(after_head_hook(HeadPoint::kBeforeNorm, mixed));
    const auto outputs = after_head_hook(HeadPoint::kAfterNorm, heads);
    return out(at_places(join_heads(outputs), places), in, places);
  }

  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs(x, rotary);
    return map(in.q, in.k);
  }

  std::int64_t rotary_dim() const override { return head_dim_; }

  void initialise(const std::function<Random(const std::string& name)>& stream) override {
    controls_.initialise(stream);
  }

 private:
  struct Inputs {
    at::Tensor q, k, v;  // [B, T, H, d], [B, T, H_kv, d] twice
    at::Tensor gate;     // [B, T, …]; undefined without one
  };
  Inputs inputs(const at::Tensor& x, const Rotary& rotary) const {
    const auto projected = project(x, controls_.with_gate({q_proj_, k_proj_, v_proj_}));
    const auto q = controls_.queries(split_heads(projected[0], heads_));
    const auto k = controls_.keys(split_heads(projected[1], kv_heads_));
    return {.q = rotary.apply(q, kernels_),
            .k = rotary.apply(k, kernels_),
            .v = split_heads(projected[2], kv_heads_),
            .gate = controls_.gate_of(projected)};
  }
  at::Tensor map(const at::Tensor& q, const at::Tensor& k) const {  // [B, H, T, T]
    return causal_map(q.transpose(1, 2), repeat(k), controls_.sinks(q));
  }
  // Of the joined heads at these places.
  at::Tensor out(const at::Tensor& joined, const Inputs& in, const at::Tensor& places) {
    const auto gate = in.gate.defined() ? at_places(in.gate, places) : at::Tensor();
    return out_proj_(controls_.gated(joined, gate));
  }
  // Gives every query head its group's keys or values: [B, T, H_kv, d] -> [B, H, T, d].
  at::Tensor repeat(const at::Tensor& x) const {
    return repeat_heads(x, heads_ / kv_heads_).transpose(1, 2);
  }

  std::int64_t heads_, kv_heads_, head_dim_;
  Kernels kernels_;
  Linear q_proj_, k_proj_, v_proj_, out_proj_;
  std::shared_ptr<HeadNorm> subln_;
  Controls controls_;
};

}  // namespace

std::shared_ptr<Attention> SoftmaxAttentionConfig::build(const AttentionShape& shape) const {
  return std::make_shared<SoftmaxAttention>(*this, shape);
}

}  // namespace difflab
