#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "util/error.h"
#include "util/files.h"

namespace difflab::config::testing {

/// The message of the UserError that `action` throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// A folder with the given files that disappears with this object. While it lives it is the
/// working directory, so that messages show paths such as configs/config.yaml.
class Folder {
 public:
  explicit Folder(const std::vector<std::pair<std::string, std::string>>& files)
      : before_(std::filesystem::current_path()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "config_test.XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((path_ / name).parent_path());
      write_file_atomically(path_ / name, text);
    }
    std::filesystem::current_path(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
    std::filesystem::remove_all(path_, ignored);
  }

 private:
  std::filesystem::path before_, path_;
};

}  // namespace difflab::config::testing
