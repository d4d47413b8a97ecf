#include "model/attention/differential.h"

#include <ATen/ATen.h>

#include "model/attention/base/attention.h"
#include "model/attention/differential_lambda.h"

namespace difflab {
namespace {

class DifferentialAttention final : public Attention {
 public:
  DifferentialAttention(const DifferentialAttentionConfig& config, const AttentionShape& shape)
      : Attention(shape),
        groups_(config.groups()),
        kv_heads_(config.key_value_heads()),
        head_dim_(config.width(shape.d_model)),
        pairing_(config.key_pairing) {
    const auto D = shape.d_model, kv_width = 2 * kv_heads_ * head_dim_;
    q_proj_ = linear("q_proj", D, groups_.maps() * head_dim_);
    if (!config.symmetric) k_proj_ = linear("k_proj", D, kv_width);
    v_proj_ = linear("v_proj", D, kv_width);
    out_proj_ = linear("out_proj", 2 * groups_.heads * head_dim_, D);
    lambda_.emplace(*this, config, shape, head_dim_);
    add_head_norm(config.head_norm, 2 * head_dim_, config.norm_eps,
                  config.post_scale ? 1 - lambda_->init() : 1);
    add_controls(config.controls, config.control_shape(D));
  }

  std::vector<at::Tensor> maps(const at::Tensor& x, const Rotary& rotary) override {
    const auto in = inputs_of(x, rotary);
    const auto [signals, noise] = signal_and_noise(map_of(in, in.k), groups_);
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

  void initialise(const std::function<Random(const std::string& name)>& stream) override {
    lambda_->initialise(stream);
    Attention::initialise(stream);
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
  bool is_symmetric() const { return k_proj_.is_empty(); }

  std::vector<Linear> projections() const override {
    std::vector<Linear> all{q_proj_, v_proj_};
    if (!is_symmetric()) all.push_back(k_proj_);
    if (lambda_->per_token()) all.push_back(lambda_->projection());
    return all;
  }

  // Heads of width d for queries and keys, of 2d for values.
  Inputs inputs(const std::vector<at::Tensor>& projected, const Rotary& rotary) const override {
    const auto q = queries(projected[0], groups_.maps(), rotary);
    const auto& logits = projected[is_symmetric() ? 2 : 3];
    return {.q = q,
            .k = is_symmetric() ? q : keys(projected[2], 2 * kv_heads_, rotary),
            .v = split_heads(projected[1], kv_heads_),
            .lambda = lambda_->per_token() ? lambda_->of_tokens(logits) : at::Tensor()};
  }

  // A = softmax(q₁k₁ᵀ/√d) − λ softmax(q₂k₂ᵀ/√d)  (arXiv 2410.05258, eq. 1): [B, H, T_q, T].
  at::Tensor combine(const Inputs& in, const at::Tensor& k) const override {
    const auto lambda =
        in.lambda.defined() ? in.lambda.transpose(1, 2).unsqueeze(-1) : lambda_->value();
    return less_noise(map_of(in, k), groups_, lambda);
  }

  at::Tensor lambda_of_rows(const Inputs& in) const override {
    const auto type = at::promote_types(in.q.scalar_type(), at::kFloat);
    if (in.lambda.defined()) return in.lambda.to(type).transpose(1, 2);
    auto lambda = lambda_->value();  // a constant is a number of the host, whatever the device
    lambda = lambda.dim() == 0 ? at::full({1, 1}, lambda.item(), in.q.options().dtype(type))
                               : lambda.to(type).view({-1, 1});  // [1 or H, 1]
    return lambda.expand({in.q.size(0), groups_.heads, in.q.size(1)});
  }

  kernel::HeadMap head_map() const override {
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

  at::Tensor repeat_keys(const at::Tensor& k, std::int64_t) const override {
    if (pairing_ == KeyPairing::kNaive) return repeat_heads(k, sharing());
    const auto noise_heads = groups_.noise_heads();
    const auto pairs = repeat_heads(k.unflatten(2, {kv_heads_, 2}), noise_heads / kv_heads_);
    if (groups_.per_noise == 1) return pairs.flatten(2, 3);
    const auto of_signals = pairs.narrow(3, 0, 1).expand({-1, -1, -1, groups_.per_noise, -1});
    return at::cat({of_signals, pairs.narrow(3, 1, 1)}, 3).flatten(2, 3);
  }

  NoiseGroups groups_;
  std::int64_t kv_heads_, head_dim_;
  KeyPairing pairing_;
  std::optional<DifferentialLambda> lambda_;
};

}  // namespace

std::shared_ptr<Attention> DifferentialAttentionConfig::build(const AttentionShape& shape) const {
  return std::make_shared<DifferentialAttention>(*this, shape);
}

}  // namespace difflab
