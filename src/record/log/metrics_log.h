#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "util/files.h"
#include "util/json.h"

namespace difflab {

/// Appends to metrics.jsonl. A run that resumes cuts the file back to the length it had at its
/// checkpoint, so that no step is reported twice.
class MetricsLog {
 public:
  /// Opens the file and cuts it to `length` bytes. @throws UserError if it cannot, or if the file
  /// is shorter than that.
  MetricsLog(const std::filesystem::path& path, std::uint64_t length);

  void append(const Json& line);
  std::uint64_t length() const { return length_; }

  /// Makes what was appended survive a power cut.
  void sync();

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::uint64_t length_ = 0;
};

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
