#include "config/compose/library.h"

#include <algorithm>
#include <set>

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::config {
namespace {

namespace fs = std::filesystem;

// Two slashes would make what follows them a path of its own once a group is cut off before them.
bool stays_inside(const std::string& name) {
  const fs::path path(name);
  return !path.is_absolute() && name.find("//") == name.npos && name.find('\0') == name.npos &&
         !is_among("..", path);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace

SearchPath SearchPath::of_project(const fs::path& root) {
  return {{root / "configs"}, {{"experiment", root / "experiments"}}};
}

/// Where a config or group of that name may lie, without extension, best place first.
std::vector<fs::path> Library::places_of(const std::string& name) const {
  std::vector<fs::path> places;
  if (!stays_inside(name)) return places;
  for (const auto& [group, folder] : path_.groups) {
    if (name == group) places.push_back(folder);
    if (name.starts_with(group + "/")) places.push_back(folder / name.substr(group.size() + 1));
  }
  for (const fs::path& directory : path_.directories) places.push_back(directory / name);
  return places;
}

Library::Slot Library::load(const std::string& name) const {
  const auto places = places_of(name);
  std::string misnamed;
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto file = places[i], other = file;
    file += ".yaml";
    other += ".yml";
    std::error_code error;
    if (!fs::is_regular_file(file, error)) {
      if (fs::is_regular_file(other, error)) {
        misnamed = concat(shown_path(other), ": is not read; expected the name ", shown_path(file));
      }
      continue;
    }
    try {
      Document document = load_document(file);
      // The first places are those in folders of groups of their own, as experiments/ is: what
      // lies there is about whole configurations, also if another file builds on it.
      if (i + path_.directories.size() < places.size() && !document.package) {
        document.package = "_global_";
      }
      if (document.root.is_null()) document.root = Value::map({shown_path(file), 1, 1});
      if (!document.root.is_scalar()) return {std::move(document), ""};
      return {std::nullopt, concat(document.root.source.text(), ": the file holds ",
                                   describe(document.root), "; expected a map of keys")};
    } catch (const UserError& failure) {
      return {std::nullopt, failure.what()};
    }
  }
  return {std::nullopt, misnamed};
}

const Document* Library::find(const std::string& name) {
  auto slot = slots_.find(name);
  if (slot == slots_.end()) slot = slots_.emplace(name, load(name)).first;
  if (!slot->second.error.empty()) throw UserError(slot->second.error);
  return slot->second.document ? &*slot->second.document : nullptr;
}

bool Library::has_group(const std::string& group) const {
  if (group.empty()) return false;
  const auto places = places_of(group);
  return std::any_of(places.begin(), places.end(), is_folder);
}

std::vector<std::string> Library::options(const std::string& group,
                                          std::vector<fs::path>* passed_over) const {
  std::set<std::string> names;
  for (const fs::path& folder : places_of(group)) {
    for (const fs::path& path : paths_in(folder)) {
      const auto file = path.filename().string();
      // Hidden files are editors' locks and other systems' notes.
      if (!file.ends_with(".yaml") || file.starts_with(".")) continue;
      std::error_code error;
      if (fs::is_regular_file(path, error)) {
        names.insert(path.stem().string());
      } else if (passed_over != nullptr) {
        passed_over->push_back(path);
      }
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> Library::groups(const std::string& group) const {
  std::set<std::string> names;
  for (const fs::path& folder : places_of(group)) {
    for (const fs::path& path : paths_in(folder)) {
      if (is_folder(path)) names.insert(path.filename().string());
    }
  }
  if (group.empty()) {
    for (const auto& entry : path_.groups) names.insert(entry.first);
  }
  return {names.begin(), names.end()};
}

void Library::provide(const std::string& name, Document document) {
  slots_[name] = {std::move(document), ""};
}

}  // namespace difflab::config
