#include "config/override/arguments.h"

#include <algorithm>

#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
const Value* scalar_of(const Element& element) { return std::get_if<Value>(&element.data); }

const Value& number_of(const Element& element, const std::string& name) {
  const Value* value = scalar_of(element);
  if (!value || !value->is_number()) fail(concat(name, " is no number"));
  return *value;
}

std::vector<std::optional<Element>> bind(FunctionCall& call, const std::vector<std::string>& names,
                                         std::size_t required) {
  if (call.arguments.size() > names.size()) {
    fail(concat(call.name, "() takes at most ", names.size(), " arguments: ", join(names)));
  }
  std::vector<std::optional<Element>> bound(names.size());
  for (std::size_t i = 0; i < call.arguments.size(); ++i) bound[i] = std::move(call.arguments[i]);
  for (auto& [name, value] : call.named) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      fail(concat(call.name, "() has no argument ", name, suggestion(name, names)));
    }
    auto& slot = bound[static_cast<std::size_t>(at - names.begin())];
    if (slot) fail(concat(call.name, "() is given ", name, " twice"));
    slot = std::move(value);
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!bound[i]) fail(concat(call.name, "() needs ", names[i]));
  }
  return bound;
}

Arguments positional(FunctionCall& call, const std::vector<std::string>& names) {
  for (auto& [name, value] : call.named) {
    if (std::find(names.begin(), names.end(), name) == names.end() || !call.arguments.empty()) {
      fail(concat(call.name, "() has no use for ", name, "="));
    }
    call.arguments.push_back(std::move(value));
  }
  if (call.arguments.empty()) fail(concat(call.name, "() needs an argument"));
  return std::move(call.arguments);
}

Element one_or_choice(const std::string& function, Arguments arguments) {
  if (arguments.size() == 1) return std::move(arguments[0]);
  for (const Element& argument : arguments) {
    if (argument.is_sweep()) fail(concat(function, "() takes values or one sweep"));
  }
  ChoiceSweep sweep;
  sweep.choices = std::move(arguments);
  sweep.simple = true;
  return {std::move(sweep)};
}

}  // namespace difflab::config
