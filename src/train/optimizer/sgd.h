#pragma once

#include <memory>
#include <string_view>

#include "config/schema/fields.h"
#include "train/optimizer/adamw.h"

namespace difflab {

class UpdateRule;
struct FlatParameters;

/// Stochastic gradient descent with momentum as torch.optim.SGD has it (Sutskever et al. 2013, with
/// the rate outside): d = g + weight_decay·p, m ← momentum·m + d, p ← p − lr·m.
struct SgdConfig {
  static constexpr std::string_view kKind = "sgd";
  static constexpr std::string_view kAbout = "gradient descent with momentum, for all parameters";

  double momentum = 0.9;
  bool nesterov = false;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("momentum", momentum, "share of the update before that goes on", config::between(0, 1));
    visit("nesterov", nesterov, "the update looks a step ahead: d + momentum·m");
  }

  /// Numbers kept for each parameter.
  double state_per_parameter() const { return 1; }
  std::unique_ptr<UpdateRule> build(const FlatParameters& flat, const AdamSettings&) const;
};

}  // namespace difflab
