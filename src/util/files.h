#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace difflab {

/// The whole file. @throws UserError naming the path and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Replaces `path` by `bytes` so that a reader sees the old or the new file, never a part, also
/// after a power cut: write to a temporary in the same folder, fsync, rename, fsync the folder.
/// @throws UserError (the disk is full, the folder is read-only …); the old file then still stands.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Makes the folder and its parents. @throws UserError if that is not possible.
void make_directories(const std::filesystem::path& path);

/// An exclusive lock on a file that the kernel releases when its holder dies. `acquire` waits.
class FileLock {
 public:
  /// Creates the file if it is missing. @throws UserError if it cannot be opened.
  static FileLock acquire(const std::filesystem::path& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace difflab
