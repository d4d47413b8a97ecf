#include "train/optimizer/muon.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "train/optimizer/update_rule.h"

namespace difflab {
namespace {

// A quintic whose iterates take singular values in (0, 1] to about 1 (Jordan 2024).
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
constexpr double kLeastNorm = 1e-7;

// The matrix [A, B] with its singular values near 1.
at::Tensor orthogonal(const at::Tensor& matrix, std::int64_t steps) {
  const bool tall = matrix.size(0) > matrix.size(1);
  auto x = tall ? matrix.t() : matrix;  // [m, n], m ≤ n
  x = x / x.norm().clamp_min(kLeastNorm);
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto gram = x.mm(x.t());                            // [m, m]
    const auto change = at::addmm(gram, gram, gram, kB, kC);  // [m, m]
    x = at::addmm(x, change, x, kA);                          // [m, n]
  }
  return tall ? x.t() : x;
}

double lr_factor(MuonLr adjust, const std::vector<std::int64_t>& shape) {
  const double rows = static_cast<double>(shape[0]), columns = static_cast<double>(shape[1]);
  return adjust == MuonLr::kOriginal ? std::sqrt(std::max(1.0, rows / columns))
                                     : 0.2 * std::sqrt(std::max(rows, columns));
}

class Muon final : public UpdateRule {
 public:
  Muon(const FlatParameters& flat, const MuonConfig& config, const AdamSettings& adam)
      : flat_(flat), config_(config) {
    std::vector<ParameterPlace> rest;
    for (const auto& place : flat.places) {
      const bool ours = MuonConfig::takes(place.name, place.shape.size());
      (ours ? matrices_ : rest).push_back(place);
    }
    momentum_ = zero_state("optimizer.muon.momentum.", matrices_, flat.values);
    rest_ = adam_rule(flat, std::move(rest), adam);
  }

  void step(const LearningRate& lr) override {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      const auto& place = matrices_[i];
      const auto gradient = part_of(flat_.gradients, place);
      auto mean = part_of(momentum_.flat, momentum_.of[i]);
      mean.lerp_(gradient, 1 - config_.momentum);
      const auto ahead = config_.nesterov ? gradient.lerp(mean, config_.momentum) : mean;
      const auto value = part_of(flat_.values, place);
      shrink(value, lr, place.lr_scale * place.weight_decay);
      add_scaled(value, orthogonal(ahead, config_.ns_steps), lr,
                 -place.lr_scale * lr_factor(config_.adjust_lr, place.shape));
    }
    rest_->step(scaled(lr, config_.adamw_lr_scale));
  }

  std::vector<StateBuffer> state() const override {
    auto all = rest_->state();
    all.push_back(momentum_);
    return all;
  }
  void resume_at(std::int64_t steps) override { rest_->resume_at(steps); }

 private:
  FlatParameters flat_;
  MuonConfig config_;
  std::vector<ParameterPlace> matrices_;
  StateBuffer momentum_;
  std::unique_ptr<UpdateRule> rest_;
};

}  // namespace

std::unique_ptr<UpdateRule> MuonConfig::build(const FlatParameters& flat,
                                              const AdamSettings& adam) const {
  return std::make_unique<Muon>(flat, *this, adam);
}

}  // namespace difflab
