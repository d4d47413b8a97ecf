#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "util/error.h"

namespace difflab {

/// A new folder for files that nobody needs afterwards, gone with the object and everything in it.
/// @throws UserError if it cannot be made.
class ScratchFolder {
 public:
  /// @param what is done in it, a word of the folder's name
  explicit ScratchFolder(const std::string& what) {
    const auto pattern = std::filesystem::temp_directory_path() / ("difflab-" + what + "-XXXXXX");
    std::string name = pattern.string();
    if (::mkdtemp(name.data()) == nullptr) throw UserError(name + ": cannot be made");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace difflab
