#include "config/compose/defaults_list.h"

#include <algorithm>

#include "config/interpolate/interpolate.h"
#include "config/interpolate/interpolation_text.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::size_t kMaxFiles = 1000;

/// Hydra's algorithm (defaults_list.py): lists are walked from their end, so that an `override`
/// below is known before the choice above it is expanded.
class Expansion {
 public:
  Expansion(Library& library, GroupOverrides& overrides, Problems& problems, bool foreign)
      : library_(library), overrides_(overrides), problems_(problems), foreign_(foreign) {}

  std::vector<Default> root(const std::string& name) {
    DefaultItem item;
    item.path = option_name(name);
    return expand(item, /*is_root=*/true, /*interpolated=*/false);
  }

  /// Override keys of all choices, with what was chosen.
  const std::map<std::string, std::string>& known() const { return known_; }

 private:
  using Results = std::vector<Default>;

  void problem(const Source& source, std::string message) {
    problems_.add(source, "defaults", std::move(message));
  }

  Results expand(DefaultItem item, bool is_root, bool interpolated) {
    if (is_deleted(item)) return {};
    if (item.group) remember(item);
    if (item.group && !item.name()) return {};  // null: nothing chosen
    if (item.group && *item.name() == "???") {
      if (overrides_.undecided.contains(item.override_key())) return {};
      problem(item.source, concat("a choice is needed: ", item.override_key(), "=",
                                  join(library_.options(item.group_path()), " | ")));
      return {};
    }
    const Document* document = load(item, is_root);
    if (!document) return {};
    if (includes_itself(item)) return {};
    item.header = document->package;
    if (!has_place(item, *document)) return {};
    active_.push_back(item.config_path());
    labels_.push_back(item.label());
    Results results = children(item, *document, is_root, interpolated);
    active_.pop_back();
    labels_.pop_back();
    return results;
  }

  /// Reports a file whose content cannot go to its package.
  bool has_place(const DefaultItem& item, const Document& document) {
    const std::string package = item.final_package();
    const bool is_deep = key_parts(package).size() > kMaxLevels;
    if (is_deep || concat(".", package, ".").find("..") != (package.empty() ? 0 : package.npos)) {
      problem(item.source,
              is_deep ? concat("the package of ", item.config_path(), " has more than ", kMaxLevels,
                               " names")
                      : concat(item.path, " gives its keys no name to lie under; expected ",
                               item.path, "@_here_, or `# @package` in ", item.config_path()));
      return false;
    }
    if (!package.empty() || document.root.is_map()) return true;
    problem(document.root.source,
            concat("the file holds ", describe(document.root), "; expected a map of keys"));
    return false;
  }

  /// Reports a file that comes again among its own defaults, and lists that grow without bound.
  bool includes_itself(const DefaultItem& item) {
    const std::string path = item.config_path();
    const auto circle = std::ranges::find(active_, path);
    if (circle != active_.end()) {
      const std::vector<std::string> files(circle, active_.end());
      problem(item.source, concat("the defaults of ", path,
                                  " lead back to it: ", join(files, " -> "), " -> ", path));
    } else if (++files_ == kMaxFiles) {
      problem(item.source, concat("the defaults list has more than ", kMaxFiles, " files"));
    }
    return circle != active_.end() || files_ >= kMaxFiles;
  }

  bool is_deleted(const DefaultItem& item) {
    if (!item.group) return false;
    const auto deletion = overrides_.deletions.find(item.override_key());
    if (deletion == overrides_.deletions.end()) return false;
    const auto& option = deletion->second.option;
    if (option && (!item.name() || *item.name() != *option)) return false;
    return deletion->second.used = true;
  }

  void remember(const DefaultItem& item) {
    const std::string key = item.override_key();
    const std::string choice = item.name() ? *item.name() : "";
    const auto [known, added] = known_.try_emplace(key, choice);
    if (added) return;
    problem(item.source,
            known->second == choice
                ? concat(key, " is chosen twice")
                : concat(key, " is chosen twice, as ", known->second, " and as ", choice,
                         "; to change a choice write `override ", key, ": ", known->second, "`"));
  }

  const Document* load(const DefaultItem& item, bool is_root) {
    const std::string path = item.config_path();
    try {
      if (const Document* document = library_.find(path)) return document;
    } catch (const UserError& error) {
      problem({}, error.what());
      return nullptr;
    }
    if (item.optional) return nullptr;
    const auto options = library_.options(item.group_path());
    const auto slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (is_root) {
      problem({}, concat("there is no config ", path, ".yaml in the search path",
                         options.empty() ? "" : suggestion(name, options)));
    } else if (item.group_path().empty()) {
      problem(item.source, concat("there is no config ", path, suggestion(name, options)));
    } else if (options.empty()) {
      problem(item.source, concat("there is no config group ", item.group_path()));
    } else {
      problem(item.source, concat("config group ", item.group_path(), " has no option ", name,
                                  suggestion(name, options)));
    }
    return nullptr;
  }

  Results children(const DefaultItem& parent, const Document& document, bool is_root,
                   bool interpolated) {
    const Value* list = document.root.find("defaults");
    std::vector<DefaultItem> items =
        list ? read_defaults(*list, problems_) : std::vector<DefaultItem>();
    for (DefaultItem& item : items) {
      if (!item.is_self()) item.place(parent.group_path(), parent.final_package());
    }
    std::erase_if(items, [&](const DefaultItem& item) {
      if (item.is_hydras() && !foreign_) problem(item.source, std::string(kNoHydra));
      return item.is_hydras();
    });
    if (!items.empty() || (is_root && !overrides_.appended.empty())) place_self(parent, items);
    if (is_root) {
      items.insert(items.end(), overrides_.appended.begin(), overrides_.appended.end());
    }
    collect_overrides(parent, items, interpolated);

    std::vector<Results> reversed;
    std::vector<std::pair<std::size_t, DefaultItem>> deferred;
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
      if (item->override_earlier) continue;
      if (item->is_self()) {
        reversed.push_back({result_of(parent)});
        continue;
      }
      apply_override(*item);
      if (const auto* options = std::get_if<std::vector<std::string>>(&item->choice)) {
        expand_options(*item, *options, parent, interpolated, reversed);
      } else if (has_interpolation(item->config_path())) {
        deferred.emplace_back(reversed.size(), *item);
        reversed.emplace_back();
      } else {
        reversed.push_back(expand(*item, false, interpolated));
      }
    }
    for (auto& [index, item] : deferred) {
      if (resolve_name(item)) reversed[index] = expand(item, false, /*interpolated=*/true);
    }
    if (items.empty()) reversed.push_back({result_of(parent)});

    Results results;
    for (auto part = reversed.rbegin(); part != reversed.rend(); ++part) {
      results.insert(results.end(), part->begin(), part->end());
    }
    return results;
  }

  /// Adds the _self_ that a list does not name: at its end, before anything appended.
  void place_self(const DefaultItem& parent, std::vector<DefaultItem>& items) {
    const auto count =
        std::ranges::count_if(items, [](const DefaultItem& item) { return item.is_self(); });
    const bool only_overrides =
        !items.empty() && std::ranges::all_of(items, [](auto& i) { return i.override_earlier; });
    if (count > 1) {
      problem(items.front().source,
              concat("defaults of ", parent.config_path(), " has _self_ twice"));
    }
    if (count > 0) return;
    DefaultItem self;
    self.path = "_self_";
    // A list of nothing but overrides has no place of its own: the content comes first all the
    // same.
    items.insert(only_overrides ? items.begin() : items.end(), std::move(self));
  }

  Default result_of(const DefaultItem& item) const {
    Default result{.config = item.config_path(),
                   .package = item.final_package(),
                   .source = item.source,
                   .replaced = item.replaced,
                   .chain = labels_};
    if (item.group) {
      result.group = item.group_path();
      result.option = *item.name();
    }
    return result;
  }

  void collect_overrides(const DefaultItem& parent, std::vector<DefaultItem>& items,
                         bool interpolated) {
    const DefaultItem* last_override = nullptr;
    for (DefaultItem& item : items) {
      if (item.is_self()) continue;
      item.place(parent.group_path(), parent.final_package());
      if (last_override && !item.override_earlier && !item.appended) {
        problem(item.source, concat("`override ", last_override->override_key(),
                                    "` stands before this item; overrides come last in a "
                                    "defaults list"));
      }
      if (!item.override_earlier) continue;
      last_override = &item;
      if (interpolated) {
        problem(item.source, "an `override` cannot stand in a config that was chosen by ${…}");
        continue;
      }
      // The first one found counts: from outside, then the lists in the order they are walked.
      overrides_.choices.try_emplace(
          item.override_key(),
          GroupOverrides::Entry{item.choice, item.source, parent.config_path()});
    }
  }

  void apply_override(DefaultItem& item) {
    if (!item.group) return;
    const auto found = overrides_.choices.find(item.override_key());
    if (found == overrides_.choices.end()) return;
    item.replaced = {text_of(item.choice), item.source};
    item.choice = found->second.choice;
    item.source = found->second.source;
    found->second.used = true;
  }

  /// group: [a, b] is a list of configs of that group.
  void expand_options(const DefaultItem& item, const std::vector<std::string>& options,
                      const DefaultItem& parent, bool interpolated,
                      std::vector<Results>& reversed) {
    for (auto option = options.rbegin(); option != options.rend(); ++option) {
      DefaultItem config;
      config.path = concat(item.path, "/", *option);
      config.package = item.package;
      config.optional = item.optional;
      config.source = item.source;
      config.place(parent.group_path(), parent.final_package());
      reversed.push_back(expand(config, false, interpolated));
    }
  }

  /// Replaces ${model} in the name of an option by what was chosen for that group.
  bool resolve_name(DefaultItem& item) {
    Value tree = Value::map();
    for (const auto& [key, choice] : known_) tree.set(key, Value(choice));
    Value text(item.group ? *item.name() : item.path);
    text.source = item.source;
    tree.set("defaults", std::move(text));
    Problems found;
    interpolate(tree, {"defaults"}, found);
    problems_.add(found);
    const std::string name = option_name(tree.find("defaults")->as_string());
    if (item.group) {
      item.choice = name;
    } else {
      item.path = name;
    }
    return found.empty();
  }

  Library& library_;
  GroupOverrides& overrides_;
  Problems& problems_;
  std::map<std::string, std::string> known_;
  bool foreign_;
  std::vector<std::string> active_;  ///< the files whose lists are being walked
  std::vector<std::string> labels_;  ///< their labels
  std::size_t files_ = 0;
};

std::string without_package(const std::string& key) { return key.substr(0, key.find('@')); }

}  // namespace

void GroupOverrides::append(const std::vector<std::string>& configs) {
  for (const std::string& config : configs) {
    DefaultItem item;
    item.path = "/" + config;
    item.package = "_global_";
    item.appended = true;
    appended.push_back(std::move(item));
  }
}

void GroupOverrides::take(const Override& item, const Library& library, Problems& problems) {
  const auto refuse = [&](const std::string& message) {
    problems.add(item.source, item.key, message);
  };
  const Value value = item.to_value();
  const std::string key = item.package ? concat(item.key, "@", *item.package) : item.key;
  Choice choice;
  const bool readable = read_choice(value, choice);
  if (item.type == Override::Type::kDelete && value.is_scalar()) {
    const bool any = value.is_null();
    deletions[key] = {any ? std::nullopt : std::optional(text_of(choice)), item.source};
  } else if (item.extends) {
    refuse("extend_list() adds to a list of values, not to choices; expected all of them");
  } else if (item.type == Override::Type::kDelete || !readable) {
    refuse(concat(item.key, " is ", describe(value), "; expected the name of an option of ",
                  item.key, ": ", join(library.options(item.key))));
  } else if (item.type == Override::Type::kForceAdd) {
    refuse(concat("++ adds values, not options of a config group; expected ", key, "=",
                  text_of(choice), " or +", key, "=", text_of(choice)));
  } else if (item.type == Override::Type::kAdd) {
    DefaultItem added;
    added.group = true;
    added.path = item.key;
    added.package = item.package == "_here_" ? std::optional<std::string>("") : item.package;
    added.choice = std::move(choice);
    added.appended = true;
    added.source = item.source;
    appended.push_back(std::move(added));
  } else {
    choices[key] = {std::move(choice), item.source, "", false};
  }
}

void GroupOverrides::report_unused(const std::map<std::string, std::string>& known,
                                   Problems& problems) const {
  for (const auto& [key, entry] : choices) {
    if (entry.used) continue;
    std::vector<std::string> same_group, groups;
    for (const auto& choice : known) {
      const auto group = without_package(choice.first);
      groups.push_back(group);
      if (group == without_package(key)) same_group.push_back(choice.first);
      if (concat("/", without_package(key)).ends_with(concat("/", group)) && same_group.empty())
        same_group.push_back("/" + group);
    }
    const std::string hint =
        !same_group.empty()  ? concat("; did you mean ", join(same_group, " or "), "?")
        : entry.file.empty() ? concat("; to add it write +", key, "=", text_of(entry.choice))
                             : suggestion(without_package(key), groups);
    problems.add(
        entry.source, key,
        concat("cannot override ", key, ": nothing in the defaults list chooses it", hint));
  }
  for (const auto& [key, deletion] : deletions) {
    if (deletion.used) continue;
    problems.add(deletion.source, key,
                 concat("cannot delete ", key, deletion.option ? "=" + *deletion.option : "",
                        ": nothing in the defaults list chooses it"));
  }
}

std::vector<Default> expand_defaults(Library& library, const std::string& name,
                                     GroupOverrides& overrides, Problems& problems, bool foreign) {
  Expansion expansion(library, overrides, problems, foreign);
  std::vector<Default> defaults = expansion.root(name);
  overrides.report_unused(expansion.known(), problems);
  return defaults;
}

}  // namespace difflab::config
