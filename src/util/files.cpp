#include "util/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <utility>

#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace difflab {
namespace {

namespace fs = std::filesystem;

// A name for a stream that this process has open, as a shell's <(…) is.
bool is_of_system(const fs::path& path) {
  const auto text = path.lexically_normal().string();
  const bool is_memory = text.starts_with("/dev/shm/");  // holds files as any folder does
  return (text.starts_with("/dev/") && !is_memory) || text.starts_with("/proc/");
}

void sync_directory(const fs::path& directory) {
  const Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) fail_at("open", directory);
  // Some filesystems cannot sync a folder (EINVAL); the rename itself is then all there is.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) fail_at("sync", directory);
}

// Writes a temporary beside `path`, synced, and lets `publish` give it its name; what that answers.
// Nothing is left of the temporary if it answers false or throws.
template <class Publish>
bool write_and_publish(const fs::path& path, std::string_view bytes, Sync sync, Publish publish) {
  const fs::path temporary = temporary_beside(path);
  bool published = false;
  try {
    Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode));
    if (!file.is_open()) fail_at("create", temporary);
    write_all(file.get(), bytes, temporary);
    if (sync != Sync::kNothing && ::fsync(file.get()) != 0) fail_at("sync", temporary);
    if (file.close() != 0) fail_at("close", temporary);
    published = publish(temporary);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (!published) {
    ::unlink(temporary.c_str());
  } else if (sync == Sync::kBytesAndName) {
    sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
  }
  return published;
}

}  // namespace

void fail_at(std::string_view action, const fs::path& path, int error) {
  throw UserError(concat("cannot ", action, " ", path.string(), ": ", std::strerror(error)));
}

int Descriptor::close() { return is_open() ? ::close(std::exchange(value_, -1)) : 0; }

void write_all(int descriptor, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() / concat(".", path.filename().string(), ".", process_space(), ".",
                                     ::getpid(), ".", counter++, ".tmp");
}

std::string read_file(const fs::path& path, std::size_t at_most) {
  const bool of_system = is_of_system(path);  // such as /dev/fd/63, a pipe that somebody writes to
  // To open a pipe that nobody writes to must not wait.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | (of_system ? 0 : O_NONBLOCK)));
  if (!file.is_open()) fail_at("read", path);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) fail_at("read", path);
  if (S_ISDIR(about.st_mode)) fail_at("read", path, EISDIR);
  if (!S_ISREG(about.st_mode) && !(of_system && S_ISFIFO(about.st_mode))) {
    throw UserError(concat("cannot read ", path.string(), ": is a ",
                           S_ISFIFO(about.st_mode) ? "pipe" : "device", "; expected a file"));
  }
  // A stream would end at a failing read as at the end of the file.
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (text.size() < at_most) {
    const auto most = std::min(buffer.size(), at_most - text.size());
    const ssize_t count = ::read(file.get(), buffer.data(), most);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at("read", path);
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::string_view stand_in(std::string_view start, const fs::path& path) {
  if (start.starts_with("version https://git-lfs")) {
    return "is a pointer of Git LFS and not the file itself; git lfs pull fetches that";
  }
  const bool is_meant = path.extension() == ".html" || path.extension() == ".htm";
  static const std::regex kPage("<(!doctype )?html[\\s>]", std::regex::icase);
  start = start.substr(0, kStandInBytes);
  const auto first = start.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (is_meant || first == start.npos || start[first] != '<') return "";
  if (!std::regex_search(start.begin(), start.end(), kPage)) return "";
  return "is a web page (of an error or a login, perhaps), not the file that was to be downloaded";
}

void write_file_atomically(const fs::path& path, std::string_view bytes, Sync sync) {
  write_and_publish(path, bytes, sync, [&](const fs::path& temporary) {
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail_at("replace", path);
    return true;
  });
}

void write_named_file(const fs::path& path, std::string_view bytes) {
  struct stat info {};
  const bool is_there = ::stat(path.c_str(), &info) == 0;
  std::error_code none;
  const bool is_link = fs::is_symlink(path, none);
  if (!is_there && is_link) fail_at("write", path);
  if (!is_there || (S_ISREG(info.st_mode) && !is_of_system(path))) {
    return write_file_atomically(is_link ? fs::canonical(path) : path, bytes);
  }
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode) && !S_ISCHR(info.st_mode)) {
    throw UserError(concat("cannot write ", path.string(), ": it is not a file"));
  }
  Descriptor stream(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
  if (!stream.is_open()) fail_at("open", path);
  write_all(stream.get(), bytes, path);
  if (stream.close() != 0) fail_at("close", path);
}

void write_file_in_place(const fs::path& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kNewFileMode));
  if (!file.is_open()) fail_at("open", path);
  write_all(file.get(), bytes, path);
  if (::ftruncate(file.get(), static_cast<off_t>(bytes.size())) != 0) fail_at("cut", path);
  if (file.close() != 0) fail_at("close", path);
}

bool write_file_once(const fs::path& path, std::string_view bytes) {
  bool named = false;
  const auto publish = [&](const fs::path& temporary) {
    // Unlike rename, link never replaces.
    if (::link(temporary.c_str(), path.c_str()) == 0) {
      named = true;
      ::unlink(temporary.c_str());  // if that fails, it is a leftover like others
      return true;
    }
    // EEXIST, or a filesystem without hard links.
    if (errno == EEXIST || fs::exists(path)) return false;
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail_at("create", path);
    return named = true;
  };
  try {
    return write_and_publish(path, bytes, Sync::kBytesAndName, publish);
  } catch (...) {
    // Its name may not be on the disk, so nobody shall see it and count on it.
    if (named) ::unlink(path.c_str());
    throw;
  }
}

void share_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::create_hard_link(from, to, error);
  if (error && error != std::errc::file_exists) write_file_atomically(to, read_file(from));
}

void remove_abandoned_temporaries(const fs::path& folder) {
  // .NAME.SPACE.PROCESS.COUNT.tmp, from temporary_beside; nobody can tell of another machine's
  // processes whether they live
  static const std::regex kName(R"(\..*\.([0-9a-f]{8})\.([0-9]{1,9})\.[0-9]+\.tmp)");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    std::smatch match;
    if (!std::regex_match(name, match, kName)) continue;
    if (match[1] != process_space()) continue;
    const auto process = static_cast<pid_t>(std::stol(match[2]));
    if (::kill(process, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), ignored);
  }
}

std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_at("create folder", path, error.value());
}

ScratchFolder::ScratchFolder(const std::string& what) {
  std::string name = (fs::temp_directory_path() / ("difflab-" + what + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) throw UserError(name + ": cannot be made");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace difflab
