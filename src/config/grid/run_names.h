#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/compose/compose.h"
#include "config/grid/sweep_plan.h"
#include "config/value/value.h"
#include "util/text.h"

namespace difflab::config {

/// What names stand for in a run: axes, choices of config groups, keys.
class RunNames {
 public:
  /// @param vars a map with `vars` in it, or null
  RunNames(const PlannedPoint& point, const std::vector<Default>& defaults, const Value& config,
           const Value& vars)
      : point_(point), config_(config), vars_(vars) {
    for (const Default& item : defaults) {
      if (!item.group) continue;
      const Value option(item.option);
      choices_.emplace(*item.group, option);
      choices_.emplace(concat(*item.group, "@", item.package), option);
    }
  }

  const Value* find(const std::string& name) const {
    for (const auto& [axis, value] : point_.values) {
      if (axis->key != name) continue;
      const Value* resolved = axis->group ? nullptr : config_.find_path(name);
      return resolved ? resolved : value;
    }
    const auto choice = choices_.find(name);
    if (choice != choices_.end()) return &choice->second;
    const Value* own = config_.find_path(name);
    return own == nullptr && name.starts_with("vars.") ? vars_.find_path(name) : own;
  }

 private:
  const PlannedPoint& point_;
  const Value& config_;
  const Value& vars_;
  std::map<std::string, Value> choices_;
};

}  // namespace difflab::config
