#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace difflab::cli {

/// Committed references that a command line names.
struct NamedReferences {
  std::filesystem::path results;
  std::vector<std::string> names;  ///< those that are named, else all that there are

  std::filesystem::path folder(const std::string& name) const {
    return results / name / "reference";
  }
};

/// The folder of results=DIR among words, else the project's.
std::filesystem::path named_results(const std::vector<std::string>& words);

/// From words: names of experiments, and at most results=DIR.
/// @throws UserError for any other word, a name without a reference, or if there are none at all.
NamedReferences named_references(const std::vector<std::string>& words);

}  // namespace difflab::cli
