#include "record/log/metrics_tail.h"

#include <fstream>
#include <iterator>

namespace difflab {
namespace {

// The file from `offset` to its end; "" if there is nothing.
std::string bytes_from(const std::filesystem::path& path, std::uint64_t offset) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(offset))) return "";
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

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
