#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace difflab {

/// New files get what the umask leaves of this, so that a group can share a results folder.
inline constexpr int kNewFileMode = 0666;

/// "cannot ACTION PATH: " and what the system says of the error. @throws UserError
[[noreturn]] void fail_at(std::string_view action, const std::filesystem::path& path,
                          int error = errno);

/// The whole file, or its first `at_most` bytes. A pipe, a socket or a device is no file: it could
/// go on for ever. @throws UserError naming the path and the reason.
std::string read_file(const std::filesystem::path& path, std::size_t at_most = std::string::npos);

/// How many bytes of a file `stand_in` looks at.
inline constexpr std::size_t kStandInBytes = 256;

/// Names a file by how it begins if it stands where another was to be downloaded: a pointer of Git
/// LFS, or a web page; else "". The name of a web page that is meant ends in .html or .htm.
std::string_view stand_in(std::string_view start, const std::filesystem::path& path);

/// How much of a new file is on the disk when it has got its name: nothing that a power cut could
/// not take or leave half-written, its bytes, or its bytes and its name.
enum class Sync { kNothing, kBytes, kBytesAndName };

/// An open file, closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }

  bool is_open() const { return value_ >= 0; }
  int get() const { return value_; }  ///< -1 if it is not open
  /// Closes now, so that an error of close(2) is seen, which it returns.
  int close();

 private:
  int value_;
};

/// Writes to an open file, however often the system takes only a part. @throws UserError
void write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path);

/// Replaces `path` by `bytes` so that a reader sees the old or the new file, never a part, also
/// after a power cut: write to a temporary in the same folder, fsync, rename, fsync the folder.
/// Less is synced for a file that is followed by another in its folder, whose sync serves both.
/// @throws UserError (the disk is full, the folder is read-only …); the old file then still stands.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                           Sync sync = Sync::kBytesAndName);

/// Writes the file that a user named. Replaces a regular one atomically, where the last of a chain
/// of links leads, and appends to what only takes bytes: a FIFO, /dev/null, /dev/stdout.
/// @throws UserError for anything else, such as a folder or a link to nothing.
void write_named_file(const std::filesystem::path& path, std::string_view bytes);

/// Overwrites `path`, or makes it, without a temporary and in one write: the cheapest way, which
/// gives up no inode. A reader may meet a part of it, and a full disk or a power cut may leave one,
/// so it is for news that everybody can do without. Follows no link.
/// @throws UserError naming the path and the system's reason.
void write_file_in_place(const std::filesystem::path& path, std::string_view bytes);

/// The same as write_file_atomically for a file that must not exist yet; false, and nothing is
/// changed, if it does.
bool write_file_once(const std::filesystem::path& path, std::string_view bytes);

/// Gives a file that no writer changes in place a second name, or copies it where there are no hard
/// links. Nothing happens if the name is taken. @throws UserError if neither can be done.
void share_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// A new name in the folder of `path` for what is to be renamed or linked to it.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Removes files named by temporary_beside whose writers were killed: no process of this machine
/// has the number in their name.
void remove_abandoned_temporaries(const std::filesystem::path& folder);

/// The paths in the folder, sorted; none if it cannot be listed, as when it does not exist.
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder);

/// Makes the folder and its parents. @throws UserError if that is not possible.
void make_directories(const std::filesystem::path& path);

/// A new folder for files that nobody needs afterwards, gone with the object and everything in it.
/// @throws UserError if it cannot be made.
class ScratchFolder {
 public:
  /// @param what is done in it, a word of the folder's name
  explicit ScratchFolder(const std::string& what);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace difflab
