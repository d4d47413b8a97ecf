#include "config/compose/compose.h"

#include <algorithm>

#include "config/compose/default_item.h"
#include "config/compose/defaults_list.h"
#include "config/interpolate/interpolation_text.h"
#include "util/text.h"

namespace difflab::config {
namespace {

/// The content of a file, without its defaults list, under the package it belongs to.
void merge_file(Value& tree, const Document& document, const std::string& package,
                const ComposeOptions& options) {
  Value content = document.root;
  content.erase("defaults");
  content = in_package(std::move(content), package);
  for (const Value::Entry& entry : content.entries()) {
    if (options.lengthen && entry.value.is_map()) options.lengthen(tree, entry.key, entry.value);
  }
  merge(tree, content);
}

std::string no_single_value(const Override& item) {
  if (!item.is_sweep()) {
    return concat(item.key,
                  " has a sweep inside [ ] or { }; put the sweep in quotes to pass it on "
                  "as a text, or give it to its key: ",
                  item.key, ".KEY=…");
  }
  return concat(item.key,
                " is given a sweep where one value is expected; for a list write [a,b], for a text "
                "quote it");
}

/// Applies one `key=value`, `+key=value`, `++key=value` or `~key` to the tree.
class ValueOverride {
 public:
  ValueOverride(Value& tree, const Override& item, const ComposeOptions& options,
                Problems& problems)
      : tree_(tree), item_(item), options_(options), problems_(problems) {}

  void apply() {
    if (item_.package || item_.key.find('/') != std::string::npos) {
      return refuse(item_.key.starts_with("hydra/")
                        ? std::string(kNoHydra)
                        : concat("there is no config group ", item_.key));
    }
    if (item_.key.empty()) return refuse("an override needs a key before the =");
    if (item_.holds_sweep()) return refuse(no_single_value(item_));
    if (key_parts(item_.key).size() > kMaxLevels) {
      return refuse(concat("a key has at most ", kMaxLevels, " names"));
    }
    lengthen();
    if (item_.type == Override::Type::kDelete) return remove();
    set();
  }

 private:
  void refuse(std::string message) { problems_.add(item_.source, item_.key, std::move(message)); }

  /// Nothing is short where an item of a list is meant: sweep.0.
  void lengthen() {
    if (!options_.lengthen) return;
    const auto parts = key_parts(item_.key);
    Value over;
    if (parts.size() > 1) {
      const bool is_item = parts[1].find_first_not_of("0123456789") == std::string::npos;
      if (!is_item) over.set(item_.key.substr(item_.key.find('.') + 1), Value());
    } else if (item_.type != Override::Type::kDelete && item_.value) {
      over = item_.to_value();
    }
    if (over.is_map()) options_.lengthen(tree_, parts[0], over);
  }

  /// "no key train.lrr; did you mean lr?"
  void refuse_unknown(const Value& around, const std::string& name, const std::string& path) {
    refuse(concat(
        "there is no key ", path, around.entries().empty() ? "" : suggestion(name, around.keys()),
        item_.type == Override::Type::kChange ? concat("; to add it write +", item_.text) : ""));
  }

  /// The keys on the way along parts[from…], all of which exist; none if there is no such way. A
  /// map may have keys with dots in them, such as axes of a sweep and labels: several parts are one
  /// key then, and as many as there can be.
  static std::optional<std::vector<std::string>> way(Value& node,
                                                     const std::vector<std::string>& parts,
                                                     std::size_t from) {
    if (from == parts.size()) return std::vector<std::string>();
    const auto first = parts.begin() + static_cast<std::ptrdiff_t>(from);
    const std::size_t most = node.is_map() ? parts.size() - from : 1;
    for (std::size_t i = 0; i < most; ++i) {
      const std::size_t count = i == 0 ? 1 : most - i + 1;  // one, or as many as there can be
      const auto whole =
          join(std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(count)), ".");
      Value* child = node.child(whole);
      if (child == nullptr) continue;
      auto rest = way(*child, parts, from + count);
      if (!rest) continue;
      rest->insert(rest->begin(), whole);
      return rest;
    }
    return std::nullopt;
  }

  std::vector<std::string> names() {
    auto parts = key_parts(item_.key);
    return way(tree_, parts, 0).value_or(parts);
  }

  void remove() {
    const auto names = this->names();
    Value* around = &tree_;
    std::string path;
    for (const std::string& name : names) {
      path += (path.empty() ? "" : ".") + name;
      Value* child = around->child(name);
      if (!child) return refuse_unknown(*around, name, path);
      if (&name != &names.back()) around = child;
    }
    const Value* old = around->child(names.back());
    if (item_.value && !(item_.to_value() == *old)) {
      return refuse(concat(item_.key, " is ", describe(*old), ", not ", describe(item_.to_value()),
                           ", so it is not deleted"));
    }
    if (around->is_map()) {
      around->erase(names.back());
    } else {
      auto& items = around->mutable_items();
      items.erase(items.begin() + (old - items.data()));
    }
  }

  void set() {
    const auto names = this->names();
    Value* node = &tree_;
    std::string path;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool last = i + 1 == names.size();
      path += (path.empty() ? "" : ".") + names[i];
      Value* child = node->child(names[i]);
      if (!child && node->is_list()) {
        return refuse(
            concat(path, " does not exist: the list has ", node->items().size(), " items"));
      }
      if (!child && !may_add()) return refuse_unknown(*node, names[i], path);
      if (!child) child = &node->set(names[i], last ? Value() : own_map(), item_.source);
      if (!last && child->is_scalar() && !open_up(*child, path, names[0], names[i + 1])) return;
      node = child;
    }
    assign(*node);
  }

  Value own_map() const { return Value::map(item_.source); }

  bool may_add() const { return item_.type != Override::Type::kChange || !options_.strict; }

  /// Makes a scalar what may have keys, if it can be; else that is reported.
  bool open_up(Value& child, const std::string& path, const std::string& root,
               const std::string& next) {
    const bool replaces =
        item_.type == Override::Type::kForceAdd || child.is_null() || child.is_missing();
    if (const Value* meant = referred_to(child)) child = Value(*meant);
    if (!child.is_scalar()) return true;
    if (!is_kind(child, root) && !(may_add() && replaces)) {
      refuse(concat(path, " is ", describe(child), ", so it has no ", next));
      return false;
    }
    child = is_kind(child, root) ? of_kind(std::move(child)) : own_map();
    return true;
  }

  /// The value that a text refers to if it is one reference, ${vars.optimizer}; otherwise null.
  const Value* referred_to(const Value& text) const {
    const auto words = options_.texts_are_kinds && text.is_string() ? text.as_string() : "";
    if (!words.starts_with("${") || words.find('}') != words.size() - 1) return nullptr;
    const auto path = words.substr(2, words.size() - 3);
    return path.find_first_of(":$.") == 0 ? nullptr : tree_.find_path(path);
  }

  bool is_kind(const Value& value, const std::string& root) const {
    return options_.texts_are_kinds && value.is_string() && !value.is_missing() &&
           root != "sweep" && root != "vars" && !has_interpolation(value.as_string());
  }

  void assign(Value& old) {
    Value value = item_.to_value();
    if (item_.extends) {
      if (!old.is_list()) {
        return refuse(concat(item_.key, " is ", describe(old), "; extend_list() needs a list"));
      }
      for (const Value& item : value.items()) old.push_back(item);
      return;
    }
    if (item_.type == Override::Type::kAdd && !old.is_null() && !old.is_missing() &&
        value.is_scalar()) {
      return refuse(concat(item_.key, " is already ", describe(old), "; to change it write ",
                           item_.text.substr(1), ", to add or change it +", item_.text));
    }
    if (!value.is_map() || !old.is_map()) {
      old = std::move(value);
      return;
    }
    if (item_.type == Override::Type::kChange && options_.strict) {
      if (!only_known(old, value, item_.key)) return;
    }
    merge(old, value);
  }

  bool only_known(const Value& old, const Value& value, const std::string& path) {
    for (const Value::Entry& entry : value.entries()) {
      const Value* child = old.find(entry.key);
      const std::string name = concat(path, ".", entry.key);
      if (!child) return refuse_unknown(old, entry.key, name), false;
      if (child->is_map() && entry.value.is_map() && !only_known(*child, entry.value, name)) {
        return false;
      }
    }
    return true;
  }

  Value& tree_;
  const Override& item_;
  const ComposeOptions& options_;
  Problems& problems_;
};

}  // namespace

Value in_package(Value content, const std::string& package) {
  if (package.empty()) return content;
  Value around = Value::map(content.source);
  around.set_path(package, std::move(content));
  return around;
}

Value of_kind(Value text) {
  Value kind = Value::map(text.source);
  kind.set("kind", std::move(text), kind.source);
  return kind;
}

bool is_group_override(const Override& item, const Library& library) {
  const bool map = item.value && std::holds_alternative<Dict>(item.value->data);
  return !map && library.has_group(item.key);
}

std::map<std::string, std::string> choices_of(const std::vector<Default>& defaults) {
  std::map<std::string, std::string> choices;
  for (const Default& item : defaults) {
    if (!item.group) continue;
    std::string usual_package = *item.group;
    std::replace(usual_package.begin(), usual_package.end(), '/', '.');
    const bool elsewhere = item.package != usual_package;
    choices.emplace(elsewhere ? concat(*item.group, "@", item.package) : *item.group, item.option);
  }
  return choices;
}

void apply_overrides(Value& tree, const std::vector<Override>& value_overrides, Problems& problems,
                     const ComposeOptions& options) {
  for (const Override& item : value_overrides) {
    ValueOverride(tree, item, options, problems).apply();
    if (options.observer) options.observer({.tree = tree, .item = &item});
  }
}

Composition compose(Library& library, const std::string& name,
                    const std::vector<Override>& overrides, Problems& problems,
                    const ComposeOptions& options) {
  GroupOverrides groups;
  groups.append(options.appended);
  groups.undecided = options.undecided;
  std::vector<Override> values;
  for (const Override& item : overrides) {
    if (item.holds_sweep()) {
      problems.add(item.source, item.key, no_single_value(item));
    } else if (is_group_override(item, library)) {
      groups.take(item, library, problems);
    } else {
      values.push_back(item);
    }
  }
  Composition result;
  result.tree = Value::map();
  result.defaults = expand_defaults(library, name, groups, problems, options.foreign);
  for (const Default& item : result.defaults) {
    merge_file(result.tree, *library.find(item.config), item.package, options);
    if (options.observer) options.observer({.tree = result.tree, .file = &item});
  }
  apply_overrides(result.tree, values, problems, options);
  return result;
}

}  // namespace difflab::config
