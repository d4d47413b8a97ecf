#include "model/attention/differential_lambda.h"

#include <ATen/ATen.h>

#include <cmath>
#include <vector>

#include "model/layer/fill.h"

namespace difflab {
namespace {

// exp(a·b), one per row: [..., d] -> [..., 1].
at::Tensor exp_dot(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum(-1, /*keepdim=*/true).exp();
}

}  // namespace

DifferentialLambda::DifferentialLambda(torch::nn::Module& owner,
                                       const DifferentialAttentionConfig& config,
                                       const AttentionShape& shape, std::int64_t head_dim)
    : form_(config.lambda_form),
      sign_(config.lambda_sign),
      init_(config.lambda_init.at(shape.layer)),
      std_(config.lambda_std) {
  const bool per_head = config.lambda_per == LambdaScope::kHead;
  if (config.per_token()) {
    projection_ = owner.register_module(
        "lambda_proj", Linear(shape.d_model, config.heads, /*bias=*/false, shape.kernels));
  } else if (form_ == LambdaForm::kScalar) {
    scalar_ = owner.register_parameter("lambda", at::full(per_head ? config.heads : 1, init_));
  } else if (form_ == LambdaForm::kScalarExponential) {
    const auto number = [&](const char* name) {
      return owner.register_parameter(name, at::zeros(per_head ? config.heads : 1));
    };
    a_ = number("lambda_a");
    b_ = number("lambda_b");
  } else if (form_ == LambdaForm::kExponential) {
    const auto vectors = [&](const char* name) {
      const auto size = per_head ? std::vector{config.heads, head_dim} : std::vector{head_dim};
      return owner.register_parameter(name, at::randn(size) * std_);
    };
    q1_ = vectors("lambda_q1");
    k1_ = vectors("lambda_k1");
    q2_ = vectors("lambda_q2");
    k2_ = vectors("lambda_k2");
  }
}

void DifferentialLambda::initialise(const std::function<Random(const std::string& name)>& stream) {
  if (per_token()) {
    projection_->weight.zero_();
    return;
  }
  if (form_ == LambdaForm::kScalar) scalar_.fill_(init_);
  if (form_ == LambdaForm::kScalarExponential) {
    a_.zero_();
    b_.zero_();
  }
  if (form_ != LambdaForm::kExponential) return;
  fill_normal(q1_, std_, stream("lambda_q1"));
  fill_normal(k1_, std_, stream("lambda_k1"));
  fill_normal(q2_, std_, stream("lambda_q2"));
  fill_normal(k2_, std_, stream("lambda_k2"));
}

at::Tensor DifferentialLambda::of_tokens(const at::Tensor& logits) const {
  const auto type = at::promote_types(logits.scalar_type(), at::kFloat);
  return (logits.to(type) + std::log(init_ / (1 - init_))).sigmoid();  // bfloat16 rounds λ_init
}

at::Tensor DifferentialLambda::value() const {
  at::Tensor lambda;  // [1] or [H, 1]
  switch (form_) {
    case LambdaForm::kExponential:  // arXiv 2410.05258, eq. 2
      lambda = exp_dot(q1_, k1_) - exp_dot(q2_, k2_) + init_;
      break;
    case LambdaForm::kScalarExponential:
      lambda = a_.exp() - b_.exp() + init_;
      if (lambda.numel() > 1) lambda = lambda.unsqueeze(-1);
      break;
    case LambdaForm::kScalar:
      lambda = scalar_.numel() == 1 ? scalar_ : scalar_.unsqueeze(-1);
      break;
    case LambdaForm::kConstant:
      return at::scalar_tensor(init_, at::kDouble);
  }
  lambda = with_sign(lambda);
  return lambda.dim() == 1 ? lambda : lambda.unsqueeze(-1);
}

at::Tensor DifferentialLambda::with_sign(const at::Tensor& lambda) const {
  if (sign_ == LambdaSign::kFree) return lambda;
  constexpr double kSharpness = 4, kLinearAbove = 40;
  const double scale = init_ / kSharpness;
  const auto place = (lambda - init_) / scale + std::log(std::expm1(kSharpness));
  return scale * at::softplus(place, /*beta=*/1, kLinearAbove);
}

}  // namespace difflab
