#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace difflab {

class UpdateRule;
struct FlatParameters;
struct ParameterPlace;

/// The constants of AdamW.
struct AdamSettings {
  double beta1, beta2;
  double eps;  ///< outside the root
};

/// AdamW for the parameters `of`, one operation for all that have the same rate and decay:
/// p ← p·(1 − lr·weight_decay), then the step of Adam.
std::unique_ptr<UpdateRule> adam_rule(const FlatParameters& flat, std::vector<ParameterPlace> of,
                                      const AdamSettings& adam);

/// Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2: decoupled weight decay, then the step
/// of Adam. beta1, beta2 and adam_eps stand in TrainConfig, as other optimisers use AdamW for a
/// part of the parameters.
struct AdamWConfig {
  static constexpr std::string_view kKind = "adamw";
  static constexpr std::string_view kAbout = "AdamW, for all parameters";

  template <class Visitor>
  void visit_fields(Visitor&) {}

  /// Numbers kept for each parameter.
  double state_per_parameter() const { return 2; }
  std::unique_ptr<UpdateRule> build(const FlatParameters& flat, const AdamSettings& adam) const;
};

}  // namespace difflab
