#include "config/compose/compose.h"
#include "config/grid/study.h"
#include "config/interpolate/interpolate.h"
#include "util/text.h"

namespace difflab::config {

Value Written::with(const std::vector<std::pair<std::string, Value>>& changes,
                    Problems& problems) const {
  Value changed = tree;
  for (const auto& [key, value] : changes) {
    // A part that is one reference, train: ${…}, has to be there before a key of it is set.
    for (auto dot = key.find('.'); dot != key.npos; dot = key.find('.', dot + 1)) {
      const auto part = key.substr(0, dot);
      const Value* written = changed.find_path(part);
      if (written == nullptr || !written->is_string()) continue;
      Value whole = changed;
      interpolate(whole, keys, problems, facts);
      const Value* found = whole.find_path(part);
      if (found == nullptr) continue;
      changed.set_path(part, found->is_string() ? of_kind(*found) : *found);
    }
    changed.set_path(key, value);
  }
  auto all = keys;
  for (const auto& change : changes) {
    const auto key = change.first.substr(0, change.first.find_first_of(".["));
    if (!is_among(key, all)) all.push_back(key);
  }
  interpolate(changed, all, problems, facts);
  return part_of(std::move(changed), all);
}

Value part_of(Value tree, const std::vector<std::string>& keys) {
  auto part = Value::map(tree.source);
  for (const std::string& key : keys) {
    const Source source = tree.find_entry(key)->source;
    part.set(key, std::move(*tree.find(key)), source);
  }
  return part;
}

}  // namespace difflab::config
