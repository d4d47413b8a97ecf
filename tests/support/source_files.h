#pragma once

#include "support/catch.h"

namespace difflab::testing {

struct SourceFile {
  std::filesystem::path path;  ///< below the folder
  std::vector<std::string> lines;
};

inline std::vector<SourceFile> source_files(const char* folder = "src") {
  const fs::path src = fs::path(DIFFLAB_ROOT) / folder;
  std::vector<SourceFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    const auto extension = entry.path().extension();
    if (!entry.is_regular_file() || (extension != ".h" && extension != ".cpp")) continue;
    SourceFile file{fs::relative(entry.path(), src), {}};
    std::ifstream text(entry.path());
    for (std::string line; std::getline(text, line);) file.lines.push_back(line);
    files.push_back(std::move(file));
  }
  CATCH_REQUIRE(files.size() > 100);
  return files;
}

}  // namespace difflab::testing
