#include "record/log/metrics_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab {
namespace {

// The file from `offset` to its end; "" if there is nothing.
std::string bytes_from(const std::filesystem::path& path, std::uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(offset))) return "";
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path, std::uint64_t length)
    : path_(path),
      descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                         kNewFileMode)),
      length_(length) {
  if (!descriptor_.is_open()) fail_at("open", path);
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) fail_at("read the size of", path);
  if (static_cast<std::uint64_t>(info.st_size) < length) {
    throw UserError(concat(path.string(), ": has ", info.st_size, " bytes, the checkpoint expects ",
                           length, "; delete the run's folder to run it again"));
  }
  if (::ftruncate(descriptor_.get(), static_cast<off_t>(length)) != 0) fail_at("cut", path);
}

void MetricsLog::append(const Json& line) {
  const std::string text = line.dump() + "\n";
  write_all(descriptor_.get(), text, path_);
  length_ += text.size();
}

void MetricsLog::sync() {
  if (::fsync(descriptor_.get()) != 0) fail_at("sync", path_);
}

MetricsTail::News MetricsTail::look() {
  News news;
  // From the start of the line before: a run that resumes cuts its file and writes other lines.
  std::string text = bytes_from(path_, read_ - last_.size());
  if (!text.starts_with(last_)) {
    news.again = true;
    read_ = 0;
    last_.clear();
    text = bytes_from(path_, 0);
  }
  std::size_t begin = last_.size();
  for (auto end = text.find('\n', begin); end != text.npos; end = text.find('\n', begin)) {
    last_ = text.substr(begin, end + 1 - begin);
    Json line = Json::parse(last_, nullptr, /*allow_exceptions=*/false);
    if (line.is_object()) news.lines.push_back(std::move(line));
    read_ += last_.size();
    begin = end + 1;
  }
  return news;
}

}  // namespace difflab
