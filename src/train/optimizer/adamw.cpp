#include "train/optimizer/adamw.h"

#include <ATen/ATen.h>

#include "train/optimizer/update_rule.h"

namespace difflab {
namespace {

// Parameters that are updated alike. Those that lie side by side are one tensor of the lists.
struct Alike {
  double lr_scale, weight_decay;
  std::vector<at::Tensor> values = {}, gradients = {}, first = {}, second = {}, steps = {};
};

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
  static bool are_alike(const ParameterPlace& a, const ParameterPlace& b) {
    return a.lr_scale == b.lr_scale && a.weight_decay == b.weight_decay;
  }
  static bool goes_on(const ParameterPlace& before, const ParameterPlace& next) {
    return before.offset + before.count == next.offset && are_alike(before, next);
  }

  void add(const FlatParameters& flat, const ParameterPlace& from, std::int64_t in_state,
           std::int64_t count) {
    auto place = alike_.begin();
    while (place != alike_.end() &&
           (place->lr_scale != from.lr_scale || place->weight_decay != from.weight_decay)) {
      ++place;
    }
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

}  // namespace

std::unique_ptr<UpdateRule> adam_rule(const FlatParameters& flat, std::vector<ParameterPlace> of,
                                      const AdamSettings& adam) {
  return std::make_unique<Adam>(flat, std::move(of), adam);
}

std::unique_ptr<UpdateRule> AdamWConfig::build(const FlatParameters& flat,
                                               const AdamSettings& adam) const {
  return adam_rule(flat, flat.places, adam);
}

}  // namespace difflab
