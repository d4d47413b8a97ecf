#include "config/compose/default_item.h"

#include <algorithm>
#include <filesystem>

#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::string_view kGlobal = "_global_";

std::string with_dots(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

std::string without_slash(const std::string& path) {
  return path.starts_with('/') ? path.substr(1) : path;
}

/// The part before the last slash; "" without one.
std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string joined(const std::string& a, const std::string& b, char separator) {
  return a.empty() ? b : b.empty() ? a : a + separator + b;
}

/// Without . and .. on the way, as the file system would follow it.
std::string normal(const std::string& path) {
  if (concat("/", path).find("/.") == std::string::npos) return path;
  std::string text = std::filesystem::path(path).lexically_normal().string();
  if (text.ends_with('/') || text == ".") text.pop_back();
  return text;
}

/// group@package → package, if there is one.
std::optional<std::string> cut_package(std::string& text) {
  const auto at = text.find('@');
  if (at == std::string::npos) return std::nullopt;
  std::string package = text.substr(at + 1);
  text.resize(at);
  return package == "_here_" ? "" : package;
}

DefaultItem read_group(const Value::Entry& entry, Problems& problems) {
  DefaultItem item;
  item.group = true;
  item.source = entry.value.source;
  item.path = entry.key;
  item.package = cut_package(item.path);
  while (true) {
    const auto keyword = [&](std::string_view word) {
      if (!item.path.starts_with(word)) return false;
      item.path.erase(0, word.size());
      return true;
    };
    if (keyword("optional ")) {
      item.optional = true;
    } else if (keyword("override ")) {
      item.override_earlier = true;
    } else {
      break;
    }
  }
  if (!read_choice(entry.value, item.choice)) {
    problems.add(entry.value.source, "defaults",
                 concat("defaults: ", item.path, " is ", describe(entry.value),
                        "; expected the name of an option, a list of names, or null"));
  }
  return item;
}

}  // namespace

void DefaultItem::place(const std::string& group_of_parent, const std::string& package_of_parent) {
  parent_group = group_of_parent;
  parent_package = package_of_parent;
  if (!package) return;
  const auto at = package->find("_group_");
  if (at == std::string::npos) return;
  package->replace(at, std::string_view("_group_").size(), with_dots(group_path()));
  package->insert(0, concat(kGlobal, "."));
}

std::string DefaultItem::group_path() const {
  const std::string own = group ? without_slash(path) : folder_of(without_slash(path));
  return normal(path.starts_with('/') ? own : joined(parent_group, own, '/'));
}

std::string DefaultItem::config_path() const {
  if (group) return normal(joined(group_path(), name() ? *name() : "", '/'));
  return normal(path.starts_with('/') ? path.substr(1) : joined(parent_group, path, '/'));
}

bool DefaultItem::is_hydras() const {
  return (group ? group_path() : without_slash(path)).starts_with("hydra/");
}

std::string DefaultItem::final_package(bool use_header) const {
  std::string own;
  if (package) {
    own = *package;
  } else if (use_header && header) {
    own = *header == "_group_" ? concat(kGlobal, ".", with_dots(group_path())) : *header;
    // A header counts from the root.
    if (own != kGlobal && !own.starts_with(concat(kGlobal, "."))) {
      own = joined(std::string(kGlobal), own, '.');
    }
  } else {
    own = with_dots(group ? without_slash(path) : folder_of(without_slash(path)));
  }
  const std::string whole = joined(parent_package, own, '.');
  const auto global = whole.rfind(kGlobal);
  if (global == std::string::npos) return whole;
  return whole.substr(std::min(global + kGlobal.size() + 1, whole.size()));
}

std::string DefaultItem::override_key() const {
  const std::string package_name = final_package(/*use_header=*/false);
  const std::string key = group_path();
  if (with_dots(key) == package_name) return key;
  return concat(key, "@", package_name.empty() ? std::string(kGlobal) : package_name);
}

std::string DefaultItem::label() const {
  return group ? concat(override_key(), ": ", name() ? *name() : "null") : config_path();
}

std::string option_name(std::string name) {
  constexpr std::string_view kExtension = ".yaml";
  if (name.ends_with(kExtension)) name.resize(name.size() - kExtension.size());
  return name;
}

bool read_choice(const Value& value, Choice& choice) {
  choice = Choice();
  if (value.is_null()) return true;
  if (value.is_scalar()) {
    choice = option_name(value.as_string());
    return true;
  }
  std::vector<std::string> names;
  for (const Value& item : value.items()) {
    if (!item.is_scalar() || item.is_null()) return false;
    names.push_back(option_name(item.as_string()));
  }
  choice = std::move(names);
  return value.is_list();
}

std::string text_of(const Choice& choice) {
  if (const auto* name = std::get_if<std::string>(&choice)) return *name;
  const auto* names = std::get_if<std::vector<std::string>>(&choice);
  return names ? "[" + join(*names, ",") + "]" : "null";
}

std::vector<DefaultItem> read_defaults(const Value& list, Problems& problems) {
  std::vector<DefaultItem> items;
  if (!list.is_list() && !list.is_null()) {
    problems.add(list.source, "defaults",
                 concat("defaults is ", describe(list), "; expected a list"));
  }
  for (const Value& value : list.items()) {
    if (value.is_string()) {
      DefaultItem item;
      item.source = value.source;
      item.path = value.as_string();
      item.package = cut_package(item.path);
      item.path = option_name(item.path);
      items.push_back(std::move(item));
    } else if (value.entries().size() == 1) {
      items.push_back(read_group(value.entries().front(), problems));
    } else {
      problems.add(
          value.source, "defaults",
          concat("defaults has ", describe(value), value.is_map() ? " of several keys" : "",
                 "; expected `- group: option` or `- name`"));
    }
  }
  return items;
}

}  // namespace difflab::config
