#include "config/grid/preset.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "config/grid/axes.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Path = std::vector<std::string>;

/// An axis of a preset is one value, however many there are.
bool is_leaf(const Path& path, const Value& value) {
  return !value.is_map() || value.entries().empty() || (path.size() == 2 && path[0] == "sweep");
}

void for_each_leaf(const Value& tree, Path& path,
                   const std::function<void(const Path&, const Value&)>& visit) {
  for (const Value::Entry& entry : tree.entries()) {
    path.push_back(entry.key);
    if (is_leaf(path, entry.value)) {
      visit(path, entry.value);
    } else {
      for_each_leaf(entry.value, path, visit);
    }
    path.pop_back();
  }
}

const Value* find_along(const Value& tree, const Path& path) {
  const Value* node = &tree;
  for (const std::string& name : path) {
    if (!node->is_map()) return node;  // in place of all that would lie there
    node = node->find(name);
    if (node == nullptr) return nullptr;
  }
  return node->is_map() && node->entries().empty() ? nullptr : node;
}

/// Takes a leaf away, and the maps that get empty by it, which would replace a text.
void erase_along(Value& tree, const Path& path, std::size_t from = 0) {
  Value* below = from + 1 < path.size() ? tree.find(path[from]) : nullptr;
  if (below) erase_along(*below, path, from + 1);
  if (!below || below->entries().empty()) tree.erase(path[from]);
}

bool is_same_axis(const std::string& a, const std::string& b) {
  const auto repeats = [](const std::string& key) { return key == "seed" || key == "repeat"; };
  return a == b || (repeats(a) && repeats(b));
}

/// The choice that a defaults list makes for a group: `model: a` or `override /model: a`.
const Value* choice_in(const Value& content, const std::string& group) {
  const Value* list = content.find("defaults");
  if (list == nullptr) return nullptr;
  for (const Value& item : list->items()) {
    for (const Value::Entry& entry : item.entries()) {
      if (entry.key.substr(entry.key.find_last_of(" /") + 1) == group) return &entry.value;
    }
  }
  return nullptr;
}

std::string shown(const Value& value) {
  constexpr std::size_t kLongest = 60;
  const auto text = label_of(value);
  return text.size() <= kLongest ? text : concat(text.substr(0, text.find(' ', kLongest)), " …");
}

auto find_file(const std::vector<FileWords>& files, const std::string& name) {
  return std::ranges::find_if(files, [&](const FileWords& words) { return words.file == name; });
}

/// The entries of a tree's sweep and of the parts of its union; a list is a union.
std::vector<std::pair<std::string, const Value*>> sweep_entries(const Value& of) {
  std::vector<std::pair<std::string, const Value*>> entries;
  const auto add = [&](const Value& part) {
    for (const Value::Entry& entry : part.entries()) entries.emplace_back(entry.key, &entry.value);
  };
  const Value* sweep = of.find("sweep");
  if (sweep == nullptr) return entries;
  add(*sweep);
  const Value* parts = sweep->is_list() ? sweep : sweep->find("union");
  if (parts == nullptr) return entries;
  if (parts == sweep) entries.emplace_back("union", sweep);
  for (const Value& part : parts->items()) add(part);
  return entries;
}

/// The file's value at the keys that a preset sets at `path`; null if it sets none.
const Value* set_by(const FileWords& file, const Path& path, const Value& preset_value) {
  if (path[0] == "defaults") return nullptr;
  if (path[0] != "sweep") return find_along(file.content, path);
  const Value* own = file.content.find("sweep");
  if (path.size() < 2) return own;
  Value sweep = Value::map();
  sweep.set_path("sweep", Value::map()).set(path[1], preset_value);
  for (const auto& [theirs, value] : sweep_entries(sweep)) {
    for (const auto& [mine, said] : sweep_entries(file.content)) {
      if (is_same_axis(mine, theirs)) return said;
    }
    if (const Value* single = file.content.find_path(theirs)) {
      if (!single->is_map()) return single;
    }
    if (const Value* choice = choice_in(file.content, group_of(theirs))) return choice;
  }
  return own != nullptr && !own->is_map() ? own : nullptr;
}

// The folder of its results gets this name, perhaps with seven more characters.
bool is_folder_name(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  return !name.empty() && name.size() <= kLongest && name != "." && name != ".." &&
         std::ranges::none_of(name, [](char c) { return is_control(c) || c == '/'; });
}

// True if suites wrote everything that it sets, and neither an experiment that this one builds on
// nor the command line any of it.
bool is_of_suites(const Value& preset) {
  if (preset.entries().empty()) {
    const std::filesystem::path file = preset.source.file;
    return file.parent_path().filename() == "suite";
  }
  return std::ranges::all_of(preset.entries(),
                             [](const Value::Entry& entry) { return is_of_suites(entry.value); });
}

// The key of the sweep that this file sets, and a preset of a file that it builds on would set,
// too: what the file is about would not be run. Fewer seeds are meant.
std::optional<std::pair<std::string, const Value*>> replaced_axis(const Value& preset,
                                                                  const Document& experiment) {
  for (const auto& [own, mine] : sweep_entries(experiment.root)) {
    if (own == "seed" || own == "repeat") continue;
    for (const auto& [key, theirs] : sweep_entries(preset)) {
      const auto& file = theirs->source.file;
      const bool is_other = file != mine->source.file && !file.starts_with("override ");
      if (key == own && is_other && !is_of_suites(*theirs)) return std::pair(key, theirs);
    }
  }
  return std::nullopt;
}

}  // namespace

Preset choose_preset(const Value& tree, const std::optional<Override>& asked,
                     const Document* experiment, Problems& problems) {
  const Value* presets = tree.find("presets");
  const Value* named = tree.find("preset");
  const bool is_name =
      !asked || (asked->type == Override::Type::kChange && asked->value && !asked->holds_sweep());
  constexpr const char* kExpected = ": expected the name of one preset, e.g. preset=smoke";
  if (!is_name) problems.add(asked->source, "preset", asked->text + kExpected);
  const Value choice = asked && is_name ? asked->to_value()
                       : named          ? *named
                                        : Value(kDefaultPreset);
  Preset chosen{choice.is_scalar() ? choice.as_string() : "", std::nullopt};
  const Value* preset = presets ? presets->find(chosen.name) : nullptr;
  if (preset && chosen.name == kDefaultPreset && experiment != nullptr &&
      !experiment->root.find_path(concat("presets.", kDefaultPreset)) && is_of_suites(*preset)) {
    return chosen;
  }
  const auto replaced = preset && preset->is_map() && experiment && chosen.name != kDefaultPreset
                            ? replaced_axis(*preset, *experiment)
                            : std::nullopt;
  if (replaced) {
    const auto& [key, theirs] = *replaced;
    problems.add(
        theirs->source, "preset",
        concat("preset ", chosen.name,
               " is of a file that this experiment builds on, and would replace its sweep.", key,
               "; expected another preset, or presets.", chosen.name, ".sweep.", key, " in ",
               experiment->root.source.file));
    return chosen;
  }
  if (preset && !is_folder_name(chosen.name)) {
    problems.add(preset->source, "presets",
                 concat("presets.", chosen.name,
                        " cannot name a folder of results; expected up to 200 bytes without "
                        "slash and control characters"));
  } else if (preset && preset->is_map()) {
    chosen.keys = *preset;
  } else if (preset && !preset->is_null()) {
    problems.add(
        preset->source, "presets",
        concat("presets.", chosen.name, " is ", describe(*preset), "; expected a map of keys"));
  } else if (!choice.is_scalar()) {
    problems.add(asked ? asked->source : choice.source, "preset",
                 concat("preset is ", describe(choice), kExpected));
  } else if (!preset && chosen.name != kDefaultPreset) {
    const auto names = presets ? presets->keys() : std::vector<std::string>();
    problems.add(
        asked ? asked->source : choice.source, "preset",
        concat("there is no preset ", chosen.name,
               names.empty() ? "; this experiment has none" : suggestion(chosen.name, names)));
  }
  return chosen;
}

std::vector<FileWords> words_of(Library& library, const std::vector<Default>& defaults) {
  std::vector<FileWords> files;
  for (const Default& item : defaults) {
    Value content = library.find(item.config)->root;
    const std::string file = content.source.file;
    content.erase("presets");
    files.push_back({file, in_package(std::move(content), item.package)});
  }
  return files;
}

Value without_overruled(const Value& preset, const std::vector<FileWords>& files) {
  Value kept = preset;
  std::vector<Path> overruled;
  Path path;
  for_each_leaf(preset, path, [&](const Path& at, const Value& value) {
    const auto writer = find_file(files, value.source.file);
    if (writer != files.end() && std::any_of(writer + 1, files.end(), [&](const FileWords& later) {
          return later.file != writer->file && set_by(later, at, value) != nullptr;
        })) {
      overruled.push_back(at);
    }
  });
  for (const Path& at : overruled) erase_along(kept, at);
  return kept;
}

void refuse_overruled_axes(SweepPlan& plan, const std::vector<FileWords>& files,
                           Problems& problems) {
  for_each_axis(plan, [&](const Axis& axis) {
    const auto writer = find_file(files, axis.source.file);
    if (writer == files.end()) return;
    for (auto later = writer + 1; later != files.end(); ++later) {
      const Value* said = later->content.find_path(axis.key);
      if (axis.group) said = choice_in(later->content, group_of(axis.key));
      if (said == nullptr || said->is_map()) continue;
      problems.add(
          said->source, axis.key,
          concat(axis.key, " has no effect, as ", axis.source.file,
                 " sweeps over it; for one value write sweep: {", axis.key, ": ", label_of(*said),
                 "}, to leave the axis out sweep: {", axis.key, ": null}"));
    }
  });
}

std::vector<std::string> changes_by(const Value& preset, const std::string& name,
                                    const std::vector<FileWords>& files, const std::string& own) {
  std::vector<std::string> changes;
  const auto file = find_file(files, own);
  if (file == files.end()) return changes;
  Path path;
  for_each_leaf(preset, path, [&](const Path& at, const Value& value) {
    const auto& writer = value.source.file;
    const Value* said = writer == own ? nullptr : set_by(*file, at, value);
    if (said == nullptr || *said == value || writer.starts_with("override ")) return;
    changes.push_back(concat("preset ", name, " sets ", join(at, "."), " to ", shown(value), " (",
                             value.source.text(), "); ", own, " has ", shown(*said)));
  });
  return changes;
}

}  // namespace difflab::config
