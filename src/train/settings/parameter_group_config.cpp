#include <fnmatch.h>

#include "train/settings/parameter_group.h"
#include "util/text.h"

namespace difflab {
void ParameterGroup::validate(config::Check& check) const {
  if (match.empty()) {
    check.problem("match", "is empty; expected a pattern of names, such as *.lambda_*");
  }
  if (!lr_scale && !lr && !weight_decay) {
    check.problem(
        "match",
        concat("is ", match, " with nothing to change; expected lr_scale, lr or weight_decay"));
  }
  if (lr_scale && lr) {
    check.problem("lr", concat("is ", *lr, " beside an lr_scale of ", *lr_scale,
                               "; expected one of the two"));
  }
}

bool ParameterGroup::matches(const std::string& parameter, std::size_t dimensions) const {
  const auto found = dimensions >= 2 ? ParameterShapes::kMatrices : ParameterShapes::kVectors;
  if (shapes != ParameterShapes::kAny && shapes != found) return false;
  return fnmatch(match.c_str(), parameter.c_str(), /*flags=*/0) == 0;
}

UpdateSettings update_settings(const std::string& parameter, std::size_t dimensions,
                               const std::vector<ParameterGroup>& groups, double lr,
                               double weight_decay) {
  UpdateSettings settings{.lr_scale = 1, .weight_decay = weight_decay};
  for (const auto& group : groups) {
    if (!group.matches(parameter, dimensions)) continue;
    settings.lr_scale = group.lr ? *group.lr / lr : group.lr_scale.value_or(settings.lr_scale);
    settings.weight_decay = group.weight_decay.value_or(settings.weight_decay);
  }
  return settings;
}

}  // namespace difflab
