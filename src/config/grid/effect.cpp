#include "config/grid/effect.h"

#include <algorithm>
#include <cstddef>

#include "config/compose/compose.h"
#include "config/grid/axes.h"
#include "util/text.h"

namespace difflab::config {
bool meets(const Override& item, std::string_view key) {
  const auto own = key_parts(item.key), path = key_parts(key);
  const auto common = std::min(own.size(), path.size());
  if (!std::equal(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(common), path.begin()))
    return false;
  if (own.size() >= path.size() || item.holds_sweep() || !item.value) return true;
  const Value value = item.to_value();
  const Value* node = &value;
  for (auto i = common; i < path.size(); ++i) {
    if (!node->is_map() && !node->is_list()) return true;  // in place of all that lies there
    node = node->child(path[i]);
    if (node == nullptr) return false;
  }
  return true;
}

bool refuse_without_effect(const Override& item, SweepPlan& plan, const Library& library,
                           Problems& problems) {
  const std::size_t before = problems.reports();
  const bool is_choice = is_group_override(item, library);
  for_each_axis(plan, [&](const Axis& axis) {
    if (axis.key == axis_key(item)) {
      const bool adds = item.type == Override::Type::kAdd && !axis.group;
      if (item.type != Override::Type::kDelete && !adds) return;  // a group's: refused later
      problems.add(
          item.source, item.key,
          concat(item.key, " is swept over; ",
                 adds ? "for one value write "
                      : concat("to leave the axis out write ~sweep.", axis.key, ", for one value "),
                 axis.key, "=VALUE"));
    } else if (!axis.group && !is_choice && meets(item, axis.key)) {
      problems.add(item.source, item.key,
                   concat(item.text, " has no effect on ", axis.key,
                          ", which is swept over; for one value write ", axis.key, "=VALUE"));
    }
  });
  return problems.reports() != before;
}

void refuse_fleeting(const std::vector<FleetingUse>& uses, const std::vector<std::string>& free,
                     Problems& problems) {
  for (const FleetingUse& use : uses) {
    problems.add(
        use.source, use.path,
        concat(use.path,
               " holds the time, the number of the run or the working directory; the id of "
               "a run is made of its keys and would change each time. Expected ",
               join(free, ", "), " or a key of the experiment, such as results"));
  }
}

void refuse_for_some_runs(const Value& whole, const Value& tree,
                          const std::vector<std::string>& study_keys, Problems& problems) {
  Value there = whole, here = whole;
  if (const Value* vars = tree.find("vars")) here.set("vars", *vars);  // that study keys refer to
  Problems reported;
  auto present = study_keys;
  std::erase_if(present, [&](const std::string& key) { return whole.find(key) == nullptr; });
  if (!(here == there)) {
    interpolate(there, present, reported);
    interpolate(here, present, reported);
  }
  const auto is_same = [](const Value* a, const Value* b) {
    return a == nullptr || b == nullptr ? a == b : *a == *b;
  };
  for (const std::string& key : study_keys) {
    const Value *of_all = whole.find(key), *of_some = tree.find(key);
    if (is_same(of_all, of_some) && is_same(there.find(key), here.find(key))) continue;
    problems.add(
        of_some != nullptr ? of_some->source : of_all->source, key,
        concat(key, " differs between the options that are swept over, and belongs to the ",
               "study, not to a run; expected it in the experiment's file"));
  }
}

}  // namespace difflab::config
