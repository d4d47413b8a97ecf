#include "train/optimizer/update_rule.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/optimizer/optimizer_config.h"

namespace difflab {
namespace {

LearningRate scaled(const LearningRate& lr, double factor) {
  if (factor == 1) return lr;
  return std::visit([&](const auto& rate) -> LearningRate { return rate * factor; }, lr);
}

// target ← target + factor · lr · change
void add_scaled(at::Tensor target, const at::Tensor& change, const LearningRate& lr,
                double factor) {
  if (const auto* number = std::get_if<double>(&lr)) {
    target.add_(change, factor * *number);
  } else {
    target.addcmul_(change, std::get<at::Tensor>(lr), factor);
  }
}

// target ← target · (1 − factor · lr)
void shrink(at::Tensor target, const LearningRate& lr, double factor) {
  if (factor == 0) return;
  std::visit([&](const auto& rate) { target.mul_(1 - factor * rate); }, lr);
}

// Parameters that are updated alike. Those that lie side by side are one tensor of the lists.
struct Alike {
  double lr_scale, weight_decay;
  std::vector<at::Tensor> values = {}, gradients = {}, first = {}, second = {}, steps = {};
};

/// AdamW for the parameters `of`, one operation for all that have the same rate and decay:
/// p ← p·(1 − lr·weight_decay), then the step of Adam.
class Adam final : public UpdateRule {
 public:
  Adam(const FlatParameters& flat, std::vector<ParameterPlace> of, const AdamSettings& adam)
      : adam_(adam),
        first_(zero_state("adam.first.", of, flat.values)),
        second_(zero_state("adam.second.", of, flat.values)),
        steps_(at::zeros({}, flat.values.options().dtype(at::kFloat))) {
    for (std::size_t begin = 0, end = 0; begin < of.size(); begin = end) {
      end = begin + 1;
      while (end < of.size() && goes_on(of[end - 1], of[end])) ++end;
      const auto& last = first_.of[end - 1];
      add(flat, of[begin], first_.of[begin].offset,
          last.offset + last.count - first_.of[begin].offset);
    }
  }

  void step(const LearningRate& lr) override {
    const at::NoGradGuard no_grad;
    steps_.add_(1);
    for (const auto& alike : alike_) {
      std::visit(
          [&](const auto& rate) {
            at::_fused_adamw_(alike.values, alike.gradients, alike.first, alike.second,
                              /*max_exp_avg_sqs=*/{}, alike.steps, rate, adam_.beta1, adam_.beta2,
                              alike.weight_decay, adam_.eps, /*amsgrad=*/false, /*maximize=*/false);
          },
          scaled(lr, alike.lr_scale));
    }
  }

  std::vector<StateBuffer> state() const override { return {first_, second_}; }
  void resume_at(std::int64_t steps) override { steps_.fill_(static_cast<double>(steps)); }

 private:
  template <class Place>
  static bool are_alike(const Place& a, const ParameterPlace& b) {
    return a.lr_scale == b.lr_scale && a.weight_decay == b.weight_decay;
  }
  static bool goes_on(const ParameterPlace& before, const ParameterPlace& next) {
    return before.offset + before.count == next.offset && are_alike(before, next);
  }

  void add(const FlatParameters& flat, const ParameterPlace& from, std::int64_t in_state,
           std::int64_t count) {
    auto place = std::find_if(alike_.begin(), alike_.end(),
                              [&](const Alike& one) { return are_alike(one, from); });
    if (place == alike_.end()) {
      place = alike_.insert(place, {from.lr_scale, from.weight_decay});
    }
    place->values.push_back(flat.values.narrow(0, from.offset, count));
    place->gradients.push_back(flat.gradients.narrow(0, from.offset, count));
    place->first.push_back(first_.flat.narrow(0, in_state, count));
    place->second.push_back(second_.flat.narrow(0, in_state, count));
    place->steps.push_back(steps_);
  }

  AdamSettings adam_;
  StateBuffer first_, second_;
  at::Tensor steps_;  // scalar, float32
  std::vector<Alike> alike_;
};

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
    rest_ = std::make_unique<Adam>(flat, std::move(rest), adam);
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

std::unique_ptr<UpdateRule> AdamWConfig::build(const FlatParameters& flat,
                                               const AdamSettings& adam) const {
  return std::make_unique<Adam>(flat, flat.places, adam);
}

std::unique_ptr<UpdateRule> MuonConfig::build(const FlatParameters& flat,
                                              const AdamSettings& adam) const {
  return std::make_unique<Muon>(flat, *this, adam);
}

std::unique_ptr<UpdateRule> SgdConfig::build(const FlatParameters& flat,
                                             const AdamSettings&) const {
  return std::make_unique<Sgd>(flat, *this);
}

}  // namespace difflab
