#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/value/yaml.h"

namespace difflab::config {

/// Where configuration files lie. A config "model/diff" is the first model/diff.yaml found.
struct SearchPath {
  std::vector<std::filesystem::path> directories;  ///< e.g. {"configs"}
  /// Group name → folder that holds its options, e.g. {"experiment", "experiments"}.
  std::vector<std::pair<std::string, std::filesystem::path>> groups;

  /// The layout of a difflab checkout: `root`/configs and `root`/experiments.
  static SearchPath of_project(const std::filesystem::path& root);
};

/// The files of a search path, each read at most once.
class Library {
 public:
  explicit Library(SearchPath path) : path_(std::move(path)) {}

  /// The file "config", "model/diff", …; null if there is none.
  /// @throws UserError if it is malformed or no map
  const Document* find(const std::string& name);
  bool has_group(const std::string& group) const;
  /// The options of a group, sorted; with "" the files at the top.
  /// @param passed_over gets what is called NAME.yaml and is no file, such as a link to nothing
  std::vector<std::string> options(const std::string& group,
                                   std::vector<std::filesystem::path>* passed_over = nullptr) const;
  /// The groups directly inside `group`, sorted.
  std::vector<std::string> groups(const std::string& group = "") const;
  /// A document that has no file, found before any file of that name.
  void provide(const std::string& name, Document document);
  const SearchPath& path() const { return path_; }

 private:
  struct Slot {
    std::optional<Document> document;
    std::string error;  ///< why it could not be read
  };

  std::vector<std::filesystem::path> places_of(const std::string& name) const;
  Slot load(const std::string& name) const;

  SearchPath path_;
  std::map<std::string, Slot> slots_;
};

}  // namespace difflab::config
