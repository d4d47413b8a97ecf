#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "util/json.h"

namespace difflab {

/// Follows a metrics.jsonl that somebody else writes, and reads no byte twice.
class MetricsTail {
 public:
  explicit MetricsTail(std::filesystem::path path) : path_(std::move(path)) {}

  struct News {
    bool again = false;       ///< what earlier looks gave is no longer in the file: forget it
    std::vector<Json> lines;  ///< complete ones since the last look; damaged ones are left out
  };
  /// A file that is not there (yet, or any more) has no lines. A last line that is still being
  /// written comes with a later look.
  News look();

 private:
  std::filesystem::path path_;
  std::uint64_t read_ = 0;  ///< bytes up to here were given
  std::string last_;        ///< the last line of them, to notice a file that was cut or replaced
};

}  // namespace difflab
