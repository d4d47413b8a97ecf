#include "record/log/metrics_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab {

MetricsLog::MetricsLog(const std::filesystem::path& path, std::uint64_t length) : path_(path) {
  descriptor_ =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, kNewFileMode);
  if (descriptor_ < 0) fail_at("open", path);
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) fail_at("read the size of", path);
  if (static_cast<std::uint64_t>(info.st_size) < length) {
    ::close(descriptor_);
    throw UserError(concat(path.string(), ": has ", info.st_size, " bytes, the checkpoint expects ",
                           length, "; delete the run's folder to run it again"));
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(length)) != 0) fail_at("cut", path);
  length_ = length;
}

void MetricsLog::append(const Json& line) {
  const std::string text = line.dump() + "\n";
  write_all(descriptor_, text, path_);
  length_ += text.size();
}

void MetricsLog::sync() {
  if (::fsync(descriptor_) != 0) fail_at("sync", path_);
}

MetricsLog::~MetricsLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace difflab
