#include "train/optimizer/update_rule.h"

#include <ATen/ATen.h>

#include <utility>

namespace difflab {

LearningRate scaled(const LearningRate& lr, double factor) {
  if (factor == 1) return lr;
  return std::visit([&](const auto& rate) -> LearningRate { return rate * factor; }, lr);
}

void add_scaled(at::Tensor target, const at::Tensor& change, const LearningRate& lr,
                double factor) {
  if (const auto* number = std::get_if<double>(&lr)) {
    target.add_(change, factor * *number);
  } else {
    target.addcmul_(change, std::get<at::Tensor>(lr), factor);
  }
}

void shrink(at::Tensor target, const LearningRate& lr, double factor) {
  if (factor == 0) return;
  if (const auto* number = std::get_if<double>(&lr)) {
    target.mul_(1 - factor * *number);
  } else {
    target.mul_(1 - factor * std::get<at::Tensor>(lr));
  }
}

StateBuffer zero_state(std::string name, std::vector<ParameterPlace> of, const at::Tensor& like) {
  std::int64_t size = 0;
  for (auto& place : of) {
    place.offset = size;
    size += place.count;
  }
  return {std::move(name), at::zeros({size}, like.options()), std::move(of)};
}

at::Tensor part_of(const at::Tensor& flat, const ParameterPlace& place) {
  return flat.narrow(0, place.offset, place.count).view(place.shape);
}

}  // namespace difflab
