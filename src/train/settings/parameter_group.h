#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config/schema/fields.h"

namespace difflab {

/// Parameters by their dimensions.
enum class ParameterShapes {
  kAny,
  kMatrices,  ///< two or more: weights of linear layers, embeddings, a λ vector per head
  kVectors,   ///< one or none: gains, biases, λ
};

template <>
inline constexpr auto config::kNames<ParameterShapes> = names("any", "matrices", "vectors");

/// Parameters that are updated in another way than the rest.
struct ParameterGroup {
  std::string match = "*";
  ParameterShapes shapes = ParameterShapes::kAny;
  std::optional<double> lr_scale = {};
  std::optional<double> lr = {};
  std::optional<double> weight_decay = {};

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    visit("match", match,
          "pattern of full names, as difflab params --groups lists them: * is any text, ? one "
          "letter, [ab] one of them");
    visit("shapes", shapes,
          "of those only matrices (two dimensions or more) or vectors (gains, biases, λ)");
    visit("lr_scale", lr_scale, "their learning rate as a share of train.lr", config::at_least(0));
    visit("lr", lr,
          "or their learning rate itself, whatever train.lr is; warm-up and schedule act on it as "
          "on the others",
          config::at_least(0));
    visit("weight_decay", weight_decay, "instead of train.weight_decay", config::at_least(0));
  }
  void validate(config::Check& check) const;

  bool matches(const std::string& parameter, std::size_t dimensions) const;
};

/// How one parameter is updated.
struct UpdateSettings {
  double lr_scale = 1;
  double weight_decay = 0;
};

/// Settings by the groups that match, the later ones over the earlier; `lr` and `weight_decay` are
/// those of all parameters.
UpdateSettings update_settings(const std::string& parameter, std::size_t dimensions,
                               const std::vector<ParameterGroup>& groups, double lr,
                               double weight_decay);

}  // namespace difflab
