#include "model/attention/differential.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"
#include "model/attention/base/controls.h"
#include "model/attention/base/head_norm.h"
#include "model/attention/differential_lambda.h"
#include "model/layer/linear.h"

namespace difflab {
namespace {

class DifferentialAttention final : public Attention {
 public:
  DifferentialAttention(const DifferentialAttentionConfig& config, const AttentionShape& shape)
      : groups_(config.groups()),
        kv_heads_(config.key_value_heads()),
        head_dim_(config.width(shape.d_model)),
        pairing_(config.key_pairing),
        kernels_(shape.kernels),
        q_proj_(register_module("q_proj", Linear(shape.d_model, groups_.maps() * head_dim_,
                                                 shape.bias, shape.kernels))) {
    const auto kv_width = 2 * kv_heads_ * head_dim_;
    if (!config.symmetric) {
      k_proj_ =
          register_module("k_proj", Linear(shape.d_model, kv_width, shape.bias, shape.kernels));
    }
    v_proj_ = register_module("v_proj", Linear(shape.d_model, kv_width, shape.bias, shape.kernels));
    out_proj_ = register_module("out_proj", Linear(2 * groups_.heads * head_dim_, shape.d_model,
                                                   shape.bias, shape.kernels));
    lambda_.emplace(*this, config, shape, head_dim_);
    scale_ = config.post_scale ? 1 - lambda_->init() : 1;
    subln_ = register_module("subln", std::make_shared<HeadNorm>(config.head_norm, 2 * head_dim_,
                                                                 config.norm_eps, shape.kernels));
    controls_.emplace(*this, config.controls, config.control_shape(shape.d_model), shape.kernels);
  }

  at::Tensor forward(const at::Tensor& x, const Rotary& rotary, KeyValueCache* cache,
                     const at::Tensor& places) override {
    const auto in = inputs(x, rotary);
    const bool fused = uses_fused(kernels_, x, cache);
    const auto [k, v] = with_earlier(cache, in.k, in.v);
    if (fused) {
      const auto heads = attend_at(places, in.q, k, v, lambda_of_rows(in), head_map(),
                                   controls_->sinks(in.q), kernels_);  // [B, T, H, 2d]
      return out(subln_->forward(heads, scale_).flatten(-2), in, places);
    }
    const auto values = repeat_heads(v, sharing()).transpose(1, 2);  // [B, H, T, 2d]
    const auto mixed = after_weight_hook(difference(in, k)).matmul(values);
    const auto heads = subln_->forward(after_head_hook(HeadPoint::kBeforeNorm, mixed), scale_);
    const auto outputs = after_head_hook(HeadPoint::kAfterNorm, heads);  // [B, H, T, 2d]
    return out(at_places(join_heads(outputs), places), in, places);
  }

  at::Tensor weights(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs(x, rotary);
    return difference(in, in.k);
  }

  std::vector<at::Tensor> maps(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs(x, rotary);
    const auto [signals, noise] = signal_and_noise(all_maps(in.q, in.k), groups_);
    return {signals, noise};
  }

  at::Tensor lambdas(const at::Tensor& x) override {
    if (lambda_->per_token()) {
      auto projection = lambda_->projection();
      return lambda_->of_tokens(projection(x)).to(x.scalar_type());
    }
    return lambda_->value()
        .flatten()
        .to(x.scalar_type())
        .expand({x.size(0), x.size(1), groups_.heads});
  }

  std::int64_t rotary_dim() const override { return head_dim_; }

  void initialise(const std::function<Random(const std::string& name)>& stream) override {
    lambda_->initialise(stream);
    controls_->initialise(stream);
  }

  std::vector<std::pair<std::string, double>> statistics() const override {
    if (lambda_->per_token()) return {};
    const at::NoGradGuard no_grad;
    const auto lambda = lambda_->value().flatten();
    std::vector<std::pair<std::string, double>> named{{"lambda", lambda.mean().item<double>()}};
    for (std::int64_t i = 0; lambda.numel() > 1 && i < lambda.numel(); ++i) {
      named.emplace_back(concat("lambda_head", i), lambda[i].item<double>());
    }
    return named;
  }

 private:
  // Output heads that read the same values.
  std::int64_t sharing() const { return groups_.heads / kv_heads_; }

  struct Inputs {
    at::Tensor q, k, v;  // [B, T, H + N, d], [B, T, 2H_kv, d], [B, T, H_kv, 2d]
    at::Tensor lambda;   // [B, T, H]; undefined unless it is per token
    at::Tensor gate;     // [B, T, …]; undefined without one
  };
  Inputs inputs(const at::Tensor& x, const Rotary& rotary) const {
    const bool symmetric = k_proj_.is_empty();
    std::vector<Linear> projections{q_proj_, v_proj_};
    if (!symmetric) projections.push_back(k_proj_);
    const auto own = projections.size();
    if (lambda_->per_token()) projections.push_back(lambda_->projection());
    const auto projected = project(x, controls_->with_gate(projections));
    const auto q = controls_->queries(split_heads(projected[0], groups_.maps()));
    Inputs in{.q = rotary.apply(q, kernels_),
              .k = {},
              .v = split_heads(projected[1], kv_heads_),
              .lambda = lambda_->per_token() ? lambda_->of_tokens(projected[own]) : at::Tensor(),
              .gate = controls_->gate_of(projected)};
    if (symmetric) {
      in.k = in.q;
    } else {
      in.k = rotary.apply(controls_->keys(split_heads(projected[2], 2 * kv_heads_)), kernels_);
    }
    return in;
  }

  // A = softmax(q₁k₁ᵀ/√d) − λ softmax(q₂k₂ᵀ/√d)  (arXiv 2410.05258, eq. 1): [B, H, T_q, T].
  at::Tensor difference(const Inputs& in, const at::Tensor& k) const {
    const auto lambda =
        in.lambda.defined() ? in.lambda.transpose(1, 2).unsqueeze(-1) : lambda_->value();
    return less_noise(all_maps(in.q, k), groups_, lambda);
  }

  at::Tensor all_maps(const at::Tensor& q, const at::Tensor& k) const {  // [B, H + N, T_q, T]
    return causal_map(q.transpose(1, 2), repeat_keys(k).transpose(1, 2), controls_->sinks(q));
  }

  // Gates and projects the joined heads at these places.
  at::Tensor out(const at::Tensor& joined, const Inputs& in, const at::Tensor& places) {
    return out_proj_(controls_->gated(joined, in.gate, places));
  }

  // λ of every head and row, [B, H, T].
  at::Tensor lambda_of_rows(const Inputs& in) const {
    const auto type = at::promote_types(in.q.scalar_type(), at::kFloat);
    if (in.lambda.defined()) return in.lambda.to(type).transpose(1, 2);
    auto lambda = lambda_->value();  // a constant is a number of the host, whatever the device
    lambda = lambda.dim() == 0 ? at::full({1, 1}, lambda.item(), in.q.options().dtype(type))
                               : lambda.to(type).view({-1, 1});  // [1 or H, 1]
    return lambda.expand({in.q.size(0), groups_.heads, in.q.size(1)});
  }

  kernel::HeadMap head_map() const {
    kernel::HeadMap map;
    for (std::int64_t i = 0; i < groups_.heads; ++i) {
      const auto pair = i / sharing();
      const bool naive = pairing_ == KeyPairing::kNaive;
      map.q1.push_back(groups_.signal(i));
      map.q2.push_back(groups_.noise(i));
      map.k1.push_back(naive ? 2 * i / sharing() : 2 * pair);
      map.k2.push_back(naive ? (2 * i + 1) / sharing() : 2 * pair + 1);
      map.v.push_back(pair);
    }
    return map;
  }

  // Gives every query head its key head: [B, T, 2H_kv, d] -> [B, T, H + N, d].
  at::Tensor repeat_keys(const at::Tensor& k) const {
    if (pairing_ == KeyPairing::kNaive) return repeat_heads(k, sharing());
    const auto noise_heads = groups_.noise_heads();
    const auto pairs = repeat_heads(k.unflatten(2, {kv_heads_, 2}), noise_heads / kv_heads_);
    if (groups_.per_noise == 1) return pairs.flatten(2, 3);
    const auto of_signals = pairs.narrow(3, 0, 1).expand({-1, -1, -1, groups_.per_noise, -1});
    return at::cat({of_signals, pairs.narrow(3, 1, 1)}, 3).flatten(2, 3);
  }

  NoiseGroups groups_;
  std::int64_t kv_heads_, head_dim_;
  double scale_ = 1;  // after the head norm
  KeyPairing pairing_;
  Kernels kernels_;
  Linear q_proj_{nullptr}, k_proj_{nullptr}, v_proj_{nullptr}, out_proj_{nullptr};
  std::optional<DifferentialLambda> lambda_;
  std::shared_ptr<HeadNorm> subln_;  // over the 2d channels of a head
  std::optional<Controls> controls_;
};

}  // namespace

std::shared_ptr<Attention> DifferentialAttentionConfig::build(const AttentionShape& shape) const {
  return std::make_shared<DifferentialAttention>(*this, shape);
}

}  // namespace difflab
