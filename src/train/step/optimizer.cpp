#include "train/step/optimizer.h"

#include <ATen/ATen.h>

namespace difflab {

namespace {

FlatParameters flattened(torch::nn::Module& model, const TrainConfig& config) {
  FlatParameters flat;
  std::vector<at::Tensor> values;
  std::int64_t offset = 0;
  for (const auto& parameter : model.named_parameters()) {
    const auto& value = parameter.value();
    const auto how = update_settings(parameter.key(), static_cast<std::size_t>(value.dim()),
                                     config.groups, config.lr, config.weight_decay);
    values.push_back(value.detach().flatten());
    flat.places.push_back({parameter.key(), value.sizes().vec(), offset, value.numel(),
                           how.lr_scale, how.weight_decay});
    offset += value.numel();
  }
  flat.values = at::cat(values);
  flat.gradients = at::zeros_like(flat.values);
  return flat;
}

}  // namespace

Optimizer::Optimizer(torch::nn::Module& model, const TrainConfig& config)
    : flat_(flattened(model, config)) {
  const at::NoGradGuard no_grad;
  std::size_t index = 0;
  for (auto& parameter : model.parameters()) {
    const auto& place = flat_.places[index++];
    parameter.set_data(part_of(flat_.values, place));
    parameter.mutable_grad() = part_of(flat_.gradients, place);
  }
  const AdamSettings adam{config.beta1, config.beta2, config.adam_eps};
  rule_ = std::visit([&](const auto& kind) { return kind.build(flat_, adam); }, config.optimizer);
}

void Optimizer::zero_grad() { flat_.gradients.zero_(); }

double Optimizer::clip(double bound) {
  const double norm = flat_.gradients.norm().item<double>();
  if (bound > 0) {
    const double factor = bound / (norm + 1e-6);
    if (factor < 1) flat_.gradients.mul_(factor);
  }
  return norm;
}

at::Tensor Optimizer::clip_on_device(double bound) {
  const auto norm = flat_.gradients.norm();
  if (bound > 0) flat_.gradients.mul_((bound / (norm + 1e-6)).clamp_max(1));
  return norm;
}

std::vector<StateBuffer> Optimizer::buffers() const {
  auto all = rule_->state();
  all.insert(all.begin(), {"", flat_.values, flat_.places});
  return all;
}

}  // namespace difflab
