#include "config/grid/effect.h"

#include <string>
#include <string_view>

#include "config/compose/compose.h"
#include "config/grid/axes.h"
#include "util/text.h"

namespace difflab::config {
namespace {

// "a.0.b" of "a[0].b".
std::string plain_path(std::string_view key) { return join(key_parts(key), "."); }

}  // namespace

bool meets(const Override& item, std::string_view key) {
  const std::string own = plain_path(item.key), path = plain_path(key);
  if (own == path || own.starts_with(path + '.')) return true;
  if (!path.starts_with(own + '.')) return false;
  const Value value = item.holds_sweep() ? Value() : item.to_value();
  return !value.is_map() || value.find_path(path.substr(own.size() + 1)) != nullptr;
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

}  // namespace difflab::config
