#include "model/attention/differential_lambda.h"

#include <ATen/ATen.h>

#include <vector>

namespace difflab {
namespace {

// exp(a·b), one per row: [..., d] -> [..., 1].
at::Tensor exp_dot(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum(-1, /*keepdim=*/true).exp();
}

}  // namespace

DifferentialLambda::DifferentialLambda(torch::nn::Module& owner,
                                       const DifferentialAttentionConfig& config,
                                       std::int64_t layer, std::int64_t head_dim)
    : init_(config.lambda_init.at(layer)) {
  const bool per_head = config.lambda_per == LambdaScope::kHead;
  if (config.lambda_form == LambdaForm::kScalar) {
    scalar_ = owner.register_parameter("lambda", at::full(per_head ? config.heads : 1, init_));
  } else if (config.lambda_form == LambdaForm::kExponential) {
    const auto vectors = [&](const char* name) {
      const auto shape = per_head ? std::vector{config.heads, head_dim} : std::vector{head_dim};
      return owner.register_parameter(name, at::randn(shape) * config.lambda_std);
    };
    q1_ = vectors("lambda_q1");
    k1_ = vectors("lambda_k1");
    q2_ = vectors("lambda_q2");
    k2_ = vectors("lambda_k2");
  }
}

at::Tensor DifferentialLambda::value() const {
  if (!q1_.defined() && !scalar_.defined()) return at::scalar_tensor(init_, at::kDouble);
  const auto lambda = scalar_.defined()  // [1] or [H, 1]
                          ? scalar_.unflatten(0, {-1, 1}).squeeze(0)
                          : exp_dot(q1_, k1_) - exp_dot(q2_, k2_) + init_;
  return lambda.dim() == 1 ? lambda : lambda.unsqueeze(-1);
}

}  // namespace difflab
