#pragma once

#include <cstdint>
#include <filesystem>

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

  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;
  ~MetricsLog();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t length_ = 0;
};

}  // namespace difflab
