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
  RunNames(const PlannedPoint& point, const std::vector<Default>& defaults, const Value& config)
      : point_(point), config_(config) {
    for (const Default& item : defaults) {
      if (!item.group) continue;
      const Value option(item.config.substr(item.group->size() + 1));
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
    return choice != choices_.end() ? &choice->second : config_.find_path(name);
  }

 private:
  const PlannedPoint& point_;
  const Value& config_;
  std::map<std::string, Value> choices_;
};

}  // namespace difflab::config
