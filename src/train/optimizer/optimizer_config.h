#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

#include "config/schema/fields.h"

namespace difflab {

class UpdateRule;
struct FlatParameters;

/// The constants of AdamW.
struct AdamSettings {
  double beta1, beta2;
  double eps;  ///< outside the root
};

/// Defaults that a kind of optimiser overrides by declaring the same name.
struct OptimizerKind {
  /// True if the kind, not AdamW, updates a parameter.
  static bool takes(std::string_view, std::size_t) { return true; }
};

/// Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2: decoupled weight decay, then the step
/// of Adam. beta1, beta2 and adam_eps stand in TrainConfig, as other optimisers use AdamW for a
/// part of the parameters.
struct AdamWConfig : OptimizerKind {
  static constexpr std::string_view kKind = "adamw";
  static constexpr std::string_view kAbout = "AdamW, for all parameters";

  template <class Visitor>
  void visit_fields(Visitor&) {}

  /// Numbers kept for each parameter.
  double state_per_parameter() const { return 2; }
  std::unique_ptr<UpdateRule> build(const FlatParameters& flat, const AdamSettings& adam) const;
};

/// How the rate of a matrix [A, B] follows from its shape.
enum class MuonLr {
  kOriginal,   ///< times √max(1, A/B) (Jordan 2024)
  kMatchAdam,  ///< times 0.2·√max(A, B): updates as large as AdamW's (Liu et al. 2025,
               ///< arXiv:2502.16982, section 2.2), so that rate and decay of AdamW will do
};

template <>
inline constexpr auto config::kNames<MuonLr> = names("original", "match_rms_adamw");

/// Muon (Jordan 2024, https://kellerjordan.github.io/posts/muon) as torch.optim.Muon has it. The
/// gradient's running mean m ← momentum·m + (1 − momentum)·g is brought near the closest
/// semi-orthogonal matrix by Newton–Schulz iterations, here in float32. For the weights of linear
/// layers within the blocks; embeddings, output head, gains, biases and λ vectors have AdamW.
struct MuonConfig : OptimizerKind {
  static constexpr std::string_view kKind = "muon";
  static constexpr std::string_view kAbout =
      "orthogonalised momentum for the matrices of the blocks, AdamW for the rest";

  double momentum = 0.95;
  bool nesterov = true;
  std::int64_t ns_steps = 5;
  MuonLr adjust_lr = MuonLr::kMatchAdam;
  double adamw_lr_scale = 1;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("momentum", momentum, "decay of the gradient's running mean", config::between(0, 1));
    visit("nesterov", nesterov, "the update looks a step ahead: momentum·m + (1 − momentum)·g");
    visit("ns_steps", ns_steps, "Newton-Schulz iterations", config::between(1, 99));
    visit("adjust_lr", adjust_lr,
          "how a matrix [A, B] changes its rate: original (sqrt(max(1, A/B))) or match_rms_adamw "
          "(0.2 sqrt(max(A, B)))");
    visit("adamw_lr_scale", adamw_lr_scale,
          "rate of the parameters that AdamW updates, as a share of lr", config::at_least(0));
  }

  void validate(config::Check& check) const {
    if (momentum == 1) {
      check.problem("momentum", "is 1, with which the gradient's mean stays 0; expected less");
    }
  }

  static bool takes(std::string_view parameter, std::size_t dimensions) {
    return dimensions == 2 && parameter.starts_with("layers.") && parameter.ends_with(".weight");
  }
  /// Numbers kept for each parameter, at the least.
  double state_per_parameter() const { return 1; }
  std::unique_ptr<UpdateRule> build(const FlatParameters& flat, const AdamSettings& adam) const;
};

/// Stochastic gradient descent with momentum as torch.optim.SGD has it (Sutskever et al. 2013, with
/// the rate outside): d = g + weight_decay·p, m ← momentum·m + d, p ← p − lr·m.
struct SgdConfig : OptimizerKind {
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

/// Every optimiser there is; `kind` in the YAML picks one.
/// To add one: write its configuration above and its rule in update_rule.cpp, name it here.
using OptimizerConfig = std::variant<AdamWConfig, MuonConfig, SgdConfig>;

/// True if a tensor of a checkpoint is an optimiser's state and not a parameter of the model. Names
/// of state begin with "optimizer."; AdamW's, with "adam.", are older than that rule.
inline bool is_optimizer_state(std::string_view tensor) {
  return tensor.starts_with("optimizer.") || tensor.starts_with("adam.");
}

}  // namespace difflab
