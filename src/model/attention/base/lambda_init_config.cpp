#include "model/attention/base/lambda_init_config.h"

#include <utility>

namespace difflab {
namespace {

std::optional<double> unit_number(const config::Value& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.as_double();
  return number >= 0 && number <= 1 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<LambdaInit> LambdaInit::from_value(const config::Value& value) {
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

config::Value LambdaInit::to_value() const {
  if (const auto* constant = std::get_if<double>(&choice_)) return config::Value(*constant);
  if (const auto* list = std::get_if<std::vector<double>>(&choice_)) {
    config::Value values = config::Value::list();
    for (const double value : *list) values.push_back(config::Value(value));
    return values;
  }
  return config::Value(is_motif() ? "motif_schedule" : "schedule");
}

}  // namespace difflab
