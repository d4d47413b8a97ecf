#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

  static std::optional<LambdaInit> from_value(const config::Value& value) {
    if (value.is_string() && value.as_string() == "schedule") return LambdaInit();
    if (value.is_string() && value.as_string() == "motif_schedule") return motif();
    if (const auto number = unit_number(value)) return LambdaInit(*number);
    if (!value.is_list() || value.items().empty()) return std::nullopt;
    std::vector<double> list;
    for (const auto& item : value.items()) {
      const auto number = unit_number(item);
      if (!number) return std::nullopt;
      list.push_back(*number);
    }
    return LambdaInit(std::move(list));
  }
  config::Value to_value() const {
    if (const auto* constant = std::get_if<double>(&choice_)) return config::Value(*constant);
    if (const auto* list = std::get_if<std::vector<double>>(&choice_)) {
      config::Value values = config::Value::list();
      for (const double value : *list) values.push_back(config::Value(value));
      return values;
    }
    return config::Value(is_motif() ? "motif_schedule" : "schedule");
  }
  static std::string expected() {
    return "schedule, motif_schedule, a number from 0 to 1, or a list of such numbers, one per "
           "layer";
  }

 private:
  enum class Schedule { kPaper, kMotif };  // the first unless another is asked for
  static std::optional<double> unit_number(const config::Value& value) {
    if (!value.is_number()) return std::nullopt;
    const double number = value.as_double();
    return number >= 0 && number <= 1 ? std::optional(number) : std::nullopt;
  }
  bool is_motif() const { return std::get<Schedule>(choice_) == Schedule::kMotif; }

  std::variant<Schedule, double, std::vector<double>> choice_;
};

}  // namespace difflab
