#include "config/compose/trace.h"

#include <algorithm>

#include "util/text.h"

namespace difflab::config {
namespace {

Step step_of(const Value& value, const Layer& layer) {
  Step step{.value = value, .removed = false, .source = value.source, .chosen = {}};
  if (layer.item) step.source = layer.item->source;
  if (layer.file) step.chosen = layer.file->source;
  return step;
}

/// "model: diff  # experiments/x.yaml:3:4, instead of transformer at configs/config.yaml:2:3"
std::string line_of(const Default& item) {
  std::string line = item.chain.back();
  const std::string source = item.source.text();
  if (!source.empty()) line += concat("  # ", source);
  if (item.replaced) {
    const std::string before = item.replaced->second.text();
    line += concat(", instead of ", item.replaced->first, before.empty() ? "" : " at ", before);
  }
  return line;
}

}  // namespace

Observer Trace::observer() {
  return [this](const Layer& layer) { note(layer); };
}

const std::vector<Step>& Trace::steps(const std::string& path) const {
  static const std::vector<Step> kNone;
  const auto found = history_.find(path);
  return found == history_.end() ? kNone : found->second;
}

void Trace::note(const Layer& layer) {
  tree_ = layer.tree;
  if (layer.file) defaults_.push_back(*layer.file);
  if (key_.empty()) return;
  for (auto& [path, steps] : history_) {
    if (tree_.find_path(path) || steps.back().removed) continue;
    steps.push_back(step_of(Value(), layer));
    steps.back().removed = true;
  }
  const Value* followed = tree_.find_path(key_);
  if (!followed) return;
  for (const std::string& path : leaves(*followed, key_)) {
    const Value& value = *tree_.find_path(path);
    std::vector<Step>& steps = history_[path];
    // A value keeps its source until something else is written over it.
    const bool same = !steps.empty() && !steps.back().removed && steps.back().value == value &&
                      steps.back().value.source == value.source;
    if (!same) steps.push_back(step_of(value, layer));
  }
}

std::vector<std::string> leaves(const Value& value, const std::string& path) {
  if (!value.is_map() || value.empty()) return {path};
  std::vector<std::string> paths;
  for (const Value::Entry& entry : value.entries()) {
    const std::string name = path.empty() ? entry.key : concat(path, ".", entry.key);
    const auto below = leaves(entry.value, name);
    paths.insert(paths.end(), below.begin(), below.end());
  }
  return paths;
}

std::string defaults_tree(const std::vector<Default>& defaults) {
  using Chain = std::vector<std::string>;
  const auto own_line = [&](const Chain& chain) {
    const auto item = std::find_if(defaults.begin(), defaults.end(),
                                   [&](const Default& d) { return d.chain == chain; });
    return item == defaults.end() ? chain.back() : line_of(*item);
  };
  const auto has_list = [&](const Chain& chain) {
    return std::any_of(defaults.begin(), defaults.end(), [&](const Default& d) {
      return d.chain.size() > chain.size() &&
             std::equal(chain.begin(), chain.end(), d.chain.begin());
    });
  };
  std::string text;
  const auto add = [&](std::size_t depth, const std::string& line) {
    text += std::string(2 * depth, ' ') + line + '\n';
  };
  Chain open;  // the files around the last line
  for (const Default& item : defaults) {
    Chain around = item.chain;
    const bool among_others = has_list(item.chain);
    if (!among_others) around.pop_back();
    const auto same = std::mismatch(open.begin(), open.end(), around.begin(), around.end()).second;
    for (auto level = same; level != around.end(); ++level) {
      add(static_cast<std::size_t>(level - around.begin()), own_line({around.begin(), level + 1}));
    }
    add(around.size(), among_others ? "_self_" : line_of(item));
    open = std::move(around);
  }
  return text;
}

Json to_json(const std::vector<Default>& defaults) {
  Json list = Json::array();
  for (const Default& item : defaults) {
    Json entry{{"config", item.config}, {"package", item.package}, {"label", item.chain.back()}};
    entry["chain"] = item.chain;
    entry["from"] = item.source.text();
    if (item.replaced) {
      entry["instead_of"] = {{"choice", item.replaced->first},
                             {"from", item.replaced->second.text()}};
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace difflab::config
