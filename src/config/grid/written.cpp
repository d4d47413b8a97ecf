#include "config/grid/written.h"

#include "config/interpolate/interpolate.h"

namespace difflab::config {

Value Written::with(const std::vector<std::pair<std::string, Value>>& changes,
                    Problems& problems) const {
  Value changed = tree;
  for (const auto& [key, value] : changes) changed.set_path(key, value);
  interpolate(changed, keys, problems, facts);
  return part_of(std::move(changed), keys);
}

Value part_of(Value tree, const std::vector<std::string>& keys) {
  auto part = Value::map();
  part.source = tree.source;
  for (const std::string& key : keys) {
    const Source source = tree.find_entry(key)->source;
    part.set(key, std::move(*tree.find(key)), source);
  }
  return part;
}

}  // namespace difflab::config
