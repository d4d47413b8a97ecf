#include "train/step/optimizer.h"

#include <ATen/ATen.h>

namespace difflab {

Optimizer::Optimizer(torch::nn::Module& model, const TrainConfig& config) : config_(config) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> flat;
  for (const auto& parameter : model.parameters()) flat.push_back(parameter.detach().flatten());
  parameters_ = at::cat(flat);
  gradients_ = at::zeros_like(parameters_);
  first_ = at::zeros_like(parameters_);
  second_ = at::zeros_like(parameters_);
  steps_ = at::zeros({}, parameters_.options().dtype(at::kFloat));
  std::int64_t offset = 0;
  for (auto& parameter : model.parameters()) {
    const auto count = parameter.numel();
    parameter.set_data(parameters_.narrow(0, offset, count).view(parameter.sizes()));
    parameter.mutable_grad() = gradients_.narrow(0, offset, count).view(parameter.sizes());
    offset += count;
  }
}

void Optimizer::zero_grad() { gradients_.zero_(); }

double Optimizer::clip(double bound) {
  const double norm = gradients_.norm().item<double>();
  if (bound > 0) {
    const double factor = bound / (norm + 1e-6);
    if (factor < 1) gradients_.mul_(factor);
  }
  return norm;
}

at::Tensor Optimizer::clip_on_device(double bound) {
  const auto norm = gradients_.norm();
  if (bound > 0) gradients_.mul_((bound / (norm + 1e-6)).clamp_max(1));
  return norm;
}

void Optimizer::step(double lr) { update(lr); }
void Optimizer::step(const at::Tensor& lr) { update(lr); }

template <class Rate>
void Optimizer::update(const Rate& lr) {
  const at::NoGradGuard no_grad;
  steps_.add_(1);
  at::_fused_adamw_({parameters_}, {gradients_}, {first_}, {second_}, /*max_exp_avg_sqs=*/{},
                    {steps_}, lr, config_.beta1, config_.beta2, config_.weight_decay,
                    config_.adam_eps, /*amsgrad=*/false, /*maximize=*/false);
}

std::int64_t Optimizer::steps_taken() const {
  return static_cast<std::int64_t>(steps_.item<double>());
}

void Optimizer::restore(const at::Tensor& parameters, const at::Tensor& first,
                        const at::Tensor& second, std::int64_t steps_taken) {
  const at::NoGradGuard no_grad;
  parameters_.copy_(parameters);
  first_.copy_(first);
  second_.copy_(second);
  steps_.fill_(static_cast<double>(steps_taken));
}

}  // namespace difflab
