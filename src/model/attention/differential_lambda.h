#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <string>

#include "model/attention/differential.h"
#include "model/layer/linear.h"
#include "util/random.h"

namespace difflab {

/// λ of one DIFF V1 layer (arXiv 2410.05258, eq. 2), or of each of its heads:
///
///   exponential          exp(λ_q1·λ_k1) − exp(λ_q2·λ_k2) + λ_init, vectors in R^d
///   scalar_exponential   exp(λ_a) − exp(λ_b) + λ_init, numbers that start at 0
///   scalar               one learned number that starts at λ_init
///   constant             λ_init
///
/// With `lambda_sign: positive` a learned λ stays above 0: f(λ) takes its place, of LambdaSign,
/// which is λ_init with a slope of 1 − e⁻⁴ at λ_init, λ − 0.005 λ_init far above, and 0 far below.
///
/// With `lambda_per: token` it is none of these but of_tokens(x W_λ), where W_λ is projection().
///
/// Its parameters belong to the attention that owns it, under the official names.
class DifferentialLambda {
 public:
  DifferentialLambda(torch::nn::Module& owner, const DifferentialAttentionConfig& config,
                     const AttentionShape& shape, std::int64_t head_dim);

  /// Vectors N(0, lambda_std²), the scalar λ_init, λ_a, λ_b and W_λ 0; `stream` as in
  /// Attention::initialise.
  void initialise(const std::function<Random(const std::string& name)>& stream);

  /// W_λ, D -> H; empty unless each token has a λ.
  const Linear& projection() const { return projection_; }
  bool per_token() const { return !projection_.is_empty(); }
  /// sigmoid(logit λ_init + x W_λ) of x W_λ, both [B, T, H].
  at::Tensor of_tokens(const at::Tensor& logits) const;

  /// One number for the layer, or [H, 1, 1] per head: ready to scale maps [B, H, T, T].
  at::Tensor value() const;

  double init() const { return init_; }

 private:
  at::Tensor with_sign(const at::Tensor& lambda) const;

  LambdaForm form_;
  LambdaSign sign_;
  double init_, std_;
  at::Tensor q1_, k1_, q2_, k2_;  // [d] or [H, d]
  at::Tensor scalar_;             // [1] or [H]
  at::Tensor a_, b_;              // [1] or [H]
  Linear projection_{nullptr};
};

}  // namespace difflab
