#include "train/optimizer/sgd.h"

#include <ATen/ATen.h>

#include <vector>

#include "train/optimizer/update_rule.h"

namespace difflab {
namespace {

class Sgd final : public UpdateRule {
 public:
  Sgd(const FlatParameters& flat, const SgdConfig& config)
      : flat_(flat),
        config_(config),
        momentum_(zero_state("optimizer.sgd.momentum.", flat.places, flat.values)) {}

  void step(const LearningRate& lr) override {
    const at::NoGradGuard no_grad;
    for (const auto& place : flat_.places) {
      const auto value = part_of(flat_.values, place);
      const auto direction = part_of(flat_.gradients, place).add(value, place.weight_decay);
      auto moving = part_of(momentum_.flat, place);
      moving.mul_(config_.momentum).add_(direction);
      const auto update = config_.nesterov ? direction.add(moving, config_.momentum) : moving;
      add_scaled(value, update, lr, -place.lr_scale);
    }
  }

  std::vector<StateBuffer> state() const override { return {momentum_}; }

 private:
  FlatParameters flat_;
  SgdConfig config_;
  StateBuffer momentum_;
};

}  // namespace

std::unique_ptr<UpdateRule> SgdConfig::build(const FlatParameters& flat,
                                             const AdamSettings&) const {
  return std::make_unique<Sgd>(flat, *this);
}

}  // namespace difflab
