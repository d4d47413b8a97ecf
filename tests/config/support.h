#pragma once

#include "support/catch.h"

namespace difflab::testing {

/// A folder with the given files that disappears with this object. While it lives it is the
/// working directory, so that messages show paths such as configs/config.yaml.
class Folder {
 public:
  explicit Folder(const std::vector<std::pair<std::string, std::string>>& files) {
    for (const auto& [name, text] : files) {
      fs::create_directories((folder_.path() / name).parent_path());
      write_file_atomically(folder_.path() / name, text);
    }
    fs::current_path(folder_.path());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
  }

 private:
  fs::path before_ = fs::current_path();
  TemporaryFolder folder_;
};

}  // namespace difflab::testing
