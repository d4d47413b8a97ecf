#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/value/value.h"
#include "util/text.h"

namespace difflab {

/// λ_init of each layer: a schedule, one constant, or a list with one value per layer.
class LambdaInit {
 public:
  /// The paper's schedule 0.8 − 0.6·exp(−0.3·l), l = 0 for the first layer
  /// (arXiv 2410.05258, section 2.1, where layers count from 1).
  LambdaInit() = default;
  /// The paper's for a layer earlier, −0.0099 for the first: the "l − 1" of the paper taken from an
  /// index that counts from 0, which is how Motif's weights are served (MotifTechnologies/vllm).
  static LambdaInit motif() {
    LambdaInit init;
    init.choice_ = Schedule::kMotif;
    return init;
  }
  explicit LambdaInit(double constant) : choice_(constant) {}
  explicit LambdaInit(std::vector<double> per_layer) : choice_(std::move(per_layer)) {}

  double at(std::int64_t layer) const {
    if (const auto* constant = std::get_if<double>(&choice_)) return *constant;
    if (const auto* list = std::get_if<std::vector<double>>(&choice_)) {
      return list->at(static_cast<std::size_t>(layer));
    }
    return 0.8 - 0.6 * std::exp(-0.3 * static_cast<double>(is_motif() ? layer - 1 : layer));
  }

  /// The number of layers that a list speaks of, nothing for the other choices.
  std::optional<std::int64_t> layers() const {
    const auto* list = std::get_if<std::vector<double>>(&choice_);
    return list ? std::optional(static_cast<std::int64_t>(list->size())) : std::nullopt;
  }

  /// True if the constant or the list has this value; never for a schedule.
  bool has(double value) const {
    if (const auto* constant = std::get_if<double>(&choice_)) return *constant == value;
    const auto* list = std::get_if<std::vector<double>>(&choice_);
    return list && is_among(value, *list);
  }

  static std::optional<LambdaInit> from_value(const config::Value& value);
  config::Value to_value() const;
  static std::string expected() {
    return "schedule, motif_schedule, a number from 0 to 1, or a list of such numbers, one per "
           "layer";
  }

 private:
  enum class Schedule { kPaper, kMotif };  // the first unless another is asked for
  bool is_motif() const { return std::get<Schedule>(choice_) == Schedule::kMotif; }

  std::variant<Schedule, double, std::vector<double>> choice_;
};

}  // namespace difflab
