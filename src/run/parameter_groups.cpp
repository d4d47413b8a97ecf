#include "run/parameter_groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/cost.h"
#include "run/run_config.h"
#include "run/stage.h"
#include "util/text.h"

namespace difflab {
namespace {

// "layers.3.attn.q_proj.weight" as "layers.*.attn.q_proj.weight": one name for all layers.
std::string in_any_layer(const std::string& name) {
  const std::string_view before = "layers.";
  if (!name.starts_with(before)) return name;
  return concat(before, '*', name.substr(name.find('.', before.size())));
}

// Patterns, and the names that they could have matched; nothing once they have matched one.
using Pattern = std::pair<std::string, ParameterShapes>;
using Missing = std::map<Pattern, std::optional<std::set<std::string>>>;

void look(const RunConfig& run, Missing& missing) {
  if (run.train.groups.empty()) return;
  const auto parameters = parameter_shapes(run.model, /*vocab_size=*/1);
  for (const auto& group : run.train.groups) {
    const auto [place, is_new] =
        missing.try_emplace(Pattern(group.match, group.shapes), std::in_place);
    if (!place->second) continue;
    for (const auto& parameter : parameters) place->second->insert(in_any_layer(parameter.name));
    if (std::any_of(parameters.begin(), parameters.end(), [&](const auto& parameter) {
          return group.matches(parameter.name, parameter.shape.size());
        })) {
      place->second.reset();
    }
  }
}

}  // namespace

void check_parameter_groups(const std::vector<const RunConfig*>& runs, config::Problems& problems) {
  Missing missing;
  for (const auto* run : runs) {
    look(*run, missing);
    for (auto earlier = earlier_run(*run); earlier; earlier = earlier_run(*earlier)) {
      look(*earlier, missing);
    }
  }
  for (const auto& [pattern, names] : missing) {
    if (!names) continue;
    const auto& [match, shapes] = pattern;
    problems.add(
        {}, "train.groups",
        concat("train.groups: match ", match,
               shapes == ParameterShapes::kAny ? "" : " with its shapes", " matches no parameter",
               suggestion(match, {names->begin(), names->end()})));
  }
}

}  // namespace difflab
