#include "model/attention/differential_v2.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"
#include "model/attention/base/controls.h"
#include "model/attention/base/head_norm.h"
#include "model/layer/linear.h"

namespace difflab {
namespace {

class DifferentialV2Attention final : public Attention {
 public:
  DifferentialV2Attention(const DifferentialV2Config& config, const AttentionShape& shape)
      : groups_(config.groups()),
        heads_(config.heads),
        kv_heads_(config.key_value_heads()),
        head_dim_(config.head_dim.value_or(shape.d_model / config.heads)),
        pairing_(config.pairing),
        kernels_(shape.kernels),
        lambda_(config.lambda) {
    const auto D = shape.d_model, kv_width = kv_heads_ * head_dim_;
    q_proj_ =
        register_module("q_proj", Linear(D, groups_.maps() * head_dim_, shape.bias, shape.kernels));
    k_proj_ = register_module("k_proj", Linear(D, kv_width, shape.bias, shape.kernels));
    v_proj_ = register_module("v_proj", Linear(D, kv_width, shape.bias, shape.kernels));
    o_proj_ = register_module("o_proj", Linear(heads_ * head_dim_, D, shape.bias, shape.kernels));
    if (lambda_ != TokenLambda::kNone) {
      lambda_proj_ =
          register_module("lambda_proj", Linear(D, heads_, /*bias=*/false, shape.kernels));
    }
    subln_ = register_module("subln", std::make_shared<HeadNorm>(config.head_norm, head_dim_,
                                                                 config.norm_eps, shape.kernels));
    controls_.emplace(*this, config.controls, config.control_shape(shape.d_model), shape.kernels);
  }

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache,
                     const at::Tensor& places) override {
    const auto in = inputs(x, rotary);
    const bool unseen = uses_fused(kernels_, x, cache);
    const auto [k, v] = with_earlier(cache, in.k, in.v);
    if (unseen) {
      return out(subln_->forward(fused(in, k, v, places)).flatten(-2), in, places);
    }
    const auto mixed = mix(all_maps(in.q, k), repeat(v), in.lambda);
    const auto heads = subln_->forward(after_head_hook(HeadPoint::kBeforeNorm, mixed));
    const auto outputs = after_head_hook(HeadPoint::kAfterNorm, heads);
    return out(at_places(join_heads(outputs), places), in, places);  // [B, T, D]
  }

  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs(x, rotary);
    return difference(all_maps(in.q, in.k), in.lambda);
  }

  std::vector<at::Tensor> maps(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs(x, rotary);
    const auto [first, second] = pairs(all_maps(in.q, in.k));
    return {first, second};
  }

  at::Tensor lambdas(const at::Tensor& x) override {
    const bool none = lambda_ == TokenLambda::kNone;
    return none ? at::ones({x.size(0), x.size(1), heads_}, x.options())
                : lambda_of(lambda_proj_(x));
  }

  std::int64_t rotary_dim() const override { return head_dim_; }

  void initialise(const std::function<Random(const std::string& name)>& stream) override {
    controls_->initialise(stream);
  }

 private:
  struct Inputs {
    at::Tensor q, k, v;  // [B, T, H + N, d], [B, T, H_kv, d] twice
    at::Tensor lambda;   // [B, T, H]; undefined without one
    at::Tensor gate;     // [B, T, …]; undefined without one
  };
  Inputs inputs(const at::Tensor& x, const Rotary& rotary) const {
    const bool none = lambda_ == TokenLambda::kNone;
    std::vector<Linear> projections{q_proj_, k_proj_, v_proj_};
    if (!none) projections.push_back(lambda_proj_);
    const auto projected = project(x, controls_->with_gate(projections));
    const auto q = controls_->queries(split_heads(projected[0], groups_.maps()));
    const auto k = controls_->keys(split_heads(projected[1], kv_heads_));
    return {.q = rotary.apply(q, kernels_),
            .k = rotary.apply(k, kernels_),
            .v = split_heads(projected[2], kv_heads_),
            .lambda = none ? at::Tensor() : lambda_of(projected[3]),
            .gate = controls_->gate_of(projected)};
  }
  at::Tensor all_maps(const at::Tensor& q, const at::Tensor& k) const {  // [B, H + N, T_q, T]
    return causal_map(q.transpose(1, 2), repeat(k), controls_->sinks(q));
  }

  // All heads [B, H, T, d] of maps [B, H + N, T, T] and values [B, H + N, T, d]. A hook sees the
  // difference of two maps if they multiply the same values.
  at::Tensor mix(const at::Tensor& maps, const at::Tensor& values, const at::Tensor& lambda) const {
    if (!has_weight_hook()) return difference(maps.matmul(values), lambda);
    const auto [v1, v2] = pairs(values);
    if (pairing_ == QueryPairing::kInterleaved) {
      return after_weight_hook(difference(maps, lambda)).matmul(v1);
    }
    const auto [a1, a2] = pairs(maps);
    const auto first = after_weight_hook(a1).matmul(v1);
    return subtracted(first, after_weight_hook(a2).matmul(v2), lambda);
  }

  // a_signal − λ · a_noise of every output: [B, H + N, T, n] -> [B, H, T, n].
  at::Tensor difference(const at::Tensor& a, const at::Tensor& lambda) const {
    if (pairing_ == QueryPairing::kInterleaved) {
      const auto factors = lambda.defined() ? lambda.transpose(1, 2).unsqueeze(-1) : lambda;
      return less_noise(a, groups_, factors);
    }
    const auto [first, second] = pairs(a);
    return subtracted(first, second, lambda);
  }
  at::Tensor subtracted(const at::Tensor& first, const at::Tensor& second,
                        const at::Tensor& lambda) const {
    if (!lambda.defined()) return first - second;
    return first - lambda.transpose(1, 2).unsqueeze(-1) * second;
  }

  at::Tensor lambda_of(const at::Tensor& logits) const {  // both [B, T, H]
    return lambda_ == TokenLambda::kSigmoid ? logits.sigmoid() : logits;
  }

  // All heads [B, T, H, d]. Maps of one group share its values and are subtracted before they are
  // applied; other pairs are heads of their own first, and all in the official form.
  at::Tensor fused(const Inputs& in, const at::Tensor& k, const at::Tensor& v,
                   const at::Tensor& places) const {
    const auto sinks = controls_->sinks(in.q);
    if (pairing_ == QueryPairing::kInterleaved && !calls_by_map(kernels_)) {
      const auto lambda = in.lambda.defined()
                              ? in.lambda
                              : at::ones({in.q.size(0), in.q.size(1), heads_}, in.q.options());
      return attend_at(places, in.q, k, v, lambda.transpose(1, 2), head_map(), sinks);
    }
    const auto mixed = attend(in.q, k, v, {}, one_map_per_head(groups_.maps(), kv_heads_), sinks);
    return at_places(difference(mixed.transpose(1, 2), in.lambda).transpose(1, 2), places);
  }

  // Gates and projects the joined heads at these places.
  at::Tensor out(const at::Tensor& joined, const Inputs& in, const at::Tensor& places) {
    return o_proj_(controls_->gated(joined, in.gate, places));
  }

  // The maps of H differences.
  kernel::HeadMap head_map() const {
    auto map = one_map_per_head(heads_, kv_heads_);
    map.k2 = map.k1;
    for (std::int64_t i = 0; i < heads_; ++i) {
      map.q1[static_cast<std::size_t>(i)] = groups_.signal(i);
      map.q2.push_back(groups_.noise(i));
    }
    return map;
  }

  // The first and the second head of every output, [B, H, T, n] each.
  std::pair<at::Tensor, at::Tensor> pairs(const at::Tensor& a) const {
    if (pairing_ == QueryPairing::kInterleaved) return signal_and_noise(a, groups_);
    if (pairing_ == QueryPairing::kHalves) {
      return {a.narrow(1, 0, heads_), a.narrow(1, heads_, heads_)};
    }
    const auto interleaved = a.unflatten(1, {heads_, 2}).unbind(2);
    return {interleaved[0], interleaved[1].roll(-heads_ / kv_heads_, 1)};
  }

  // Query head j reads key/value head j / ((H + N)/H_kv): [B, T, H_kv, d] -> [B, H + N, T, d].
  at::Tensor repeat(const at::Tensor& x) const {
    return repeat_heads(x, groups_.maps() / kv_heads_).transpose(1, 2);
  }

  NoiseGroups groups_;
  std::int64_t heads_, kv_heads_, head_dim_;
  QueryPairing pairing_;
  Kernels kernels_;
  TokenLambda lambda_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, o_proj_{nullptr},
      lambda_proj_{nullptr};
  std::shared_ptr<HeadNorm> subln_;
  std::optional<Controls> controls_;
};

}  // namespace

std::shared_ptr<Attention> DifferentialV2Config::build(const AttentionShape& shape) const {
  return std::make_shared<DifferentialV2Attention>(*this, shape);
}

}  // namespace difflab
