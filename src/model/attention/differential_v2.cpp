#include "model/attention/differential_v2.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"

namespace difflab {
namespace {

class DifferentialV2Attention final : public Attention {
 public:
  DifferentialV2Attention(const DifferentialV2Config& config, const AttentionShape& shape)
      : Attention(shape),
        groups_(config.groups()),
        heads_(config.heads),
        kv_heads_(config.key_value_heads()),
        head_dim_(config.head_dim.value_or(shape.d_model / config.heads)),
        pairing_(config.pairing),
        lambda_(config.lambda) {
    const auto D = shape.d_model;
    q_proj_ = linear("q_proj", D, groups_.maps() * head_dim_);
    k_proj_ = linear("k_proj", D, kv_heads_ * head_dim_);
    v_proj_ = linear("v_proj", D, kv_heads_ * head_dim_);
    out_proj_ = linear("o_proj", heads_ * head_dim_, D);
    if (lambda_ != TokenLambda::kNone) {
      lambda_proj_ =
          register_module("lambda_proj", Linear(D, heads_, /*bias=*/false, shape.kernels));
    }
    add_head_norm(config.head_norm, head_dim_, config.norm_eps);
    add_controls(config.controls, config.control_shape(D));
  }

  std::vector<at::Tensor> maps(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs_of(x, rotary);
    const auto [first, second] = pairs(map_of(in, in.k));
    return {first, second};
  }

  at::Tensor lambdas(const at::Tensor& x) override {
    return lambda_of(lambda_ == TokenLambda::kNone ? x : lambda_proj_(x));
  }

 private:
  std::vector<Linear> projections() const override {
    auto all = Attention::projections();
    if (lambda_ != TokenLambda::kNone) all.push_back(lambda_proj_);
    return all;
  }

  Inputs inputs(const std::vector<at::Tensor>& projected, const Rotary& rotary) const override {
    const auto& logits = projected[lambda_ == TokenLambda::kNone ? 0 : 3];
    return {.q = queries(projected[0], groups_.maps(), rotary),
            .k = keys(projected[1], kv_heads_, rotary),
            .v = split_heads(projected[2], kv_heads_),
            .lambda = lambda_of(logits)};
  }

  // λ [B, T, H] of its logits [B, T, H]; 1 for any [B, T, …] if nothing is learned.
  at::Tensor lambda_of(const at::Tensor& logits) const {
    switch (lambda_) {
      case TokenLambda::kSigmoid:
        return logits.sigmoid();
      case TokenLambda::kLinear:
        return logits;
      case TokenLambda::kNone:
        break;
    }
    return at::ones({logits.size(0), logits.size(1), heads_},
                    logits.options().requires_grad(false));
  }

  at::Tensor combine(const Inputs& in, const at::Tensor& k) const override {
    return difference(map_of(in, k), in.lambda);
  }

  // A hook sees the difference of two maps if they multiply the same values.
  at::Tensor mix(const Inputs& in, const at::Tensor& k, const at::Tensor& v) const override {
    const bool share_values = pairing_ == QueryPairing::kInterleaved;
    if (has_weight_hook() && share_values) return Attention::mix(in, k, v);
    const auto maps = map_of(in, k);                                     // [B, H + N, T_q, T]
    const auto values = repeat_keys(v, groups_.maps()).transpose(1, 2);  // [B, H + N, T, d]
    if (!has_weight_hook()) return difference(maps.matmul(values), in.lambda);
    const auto [a1, a2] = pairs(maps);
    const auto [v1, v2] = pairs(values);
    const auto first = after_weight_hook(a1).matmul(v1);
    return first - columns(in.lambda) * after_weight_hook(a2).matmul(v2);
  }

  // a_signal − λ · a_noise of every output: [B, H + N, T, n] -> [B, H, T, n].
  at::Tensor difference(const at::Tensor& a, const at::Tensor& lambda) const {
    if (pairing_ == QueryPairing::kInterleaved) return less_noise(a, groups_, columns(lambda));
    const auto [first, second] = pairs(a);
    return first - columns(lambda) * second;
  }
  static at::Tensor columns(const at::Tensor& lambda) {  // [B, T, H] -> [B, H, T, 1]
    return lambda.transpose(1, 2).unsqueeze(-1);
  }

  // Maps of one group share their values and are subtracted before they are applied; other pairs
  // are heads of their own first, and all in the official form.
  at::Tensor attended(const Inputs& in, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& places) const override {
    if (pairing_ == QueryPairing::kInterleaved && !calls_by_map(shape().kernels)) {
      return Attention::attended(in, k, v, places);
    }
    const auto maps = one_map_per_head(groups_.maps(), kv_heads_);
    const auto heads = attend(in.q, k, v, {}, maps, sinks(in.q)).transpose(1, 2);
    return at_places(difference(heads, in.lambda).transpose(1, 2), places);
  }

  kernel::HeadMap head_map() const override {
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

  NoiseGroups groups_;
  std::int64_t heads_, kv_heads_, head_dim_;
  QueryPairing pairing_;
  TokenLambda lambda_;
  Linear lambda_proj_{nullptr};
};

}  // namespace

std::shared_ptr<Attention> DifferentialV2Config::build(const AttentionShape& shape) const {
  return std::make_shared<DifferentialV2Attention>(*this, shape);
}

}  // namespace difflab
