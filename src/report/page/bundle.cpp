#include <algorithm>
#include <map>
#include <string_view>

#include "report/page/page.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace difflab::report {
namespace {

namespace fs = std::filesystem;

std::string type_of(const fs::path& file) {
  static const std::map<std::string, std::string> kTypes = {
      {".csv", "text/csv"},      {".json", "application/json"}, {".html", "text/html"},
      {".svg", "image/svg+xml"}, {".png", "image/png"},         {".pdf", "application/pdf"}};
  const auto found = kTypes.find(file.extension().string());
  return found == kTypes.end() ? "text/plain" : found->second;
}

// The place of a tag's href or src, if it is a relative one.
std::string_view link_in(std::string_view tag) {
  for (const std::string_view key : {" href=\"", " src=\""}) {
    const auto at = tag.find(key);
    if (at == tag.npos) continue;
    const auto link = tag.substr(at + key.size(), tag.find('"', at + key.size()) - at - key.size());
    return link.find_first_of("#:") == link.npos ? link : std::string_view();
  }
  return {};
}

// The tag with the file in place of its link; behind an <a> the browser offers it as a download.
std::string with_file(std::string_view tag, std::string_view link, const fs::path& file) {
  const auto bytes = file.extension() == ".html" ? bundled_page(file) : read_file(file);
  const auto at = static_cast<std::size_t>(link.data() - tag.data());
  const bool is_link = tag.starts_with("<a");
  return concat("<", is_link ? concat("a download=\"", file.filename().string(), "\"") : "",
                tag.substr(is_link ? 2 : 1, at - (is_link ? 2 : 1)), "data:", type_of(file),
                ";base64,", base64(bytes), tag.substr(at + link.size()));
}

}  // namespace

std::string bundled_page(const fs::path& page) {
  const auto html = read_file(page);
  const std::string_view all = html;
  const auto folder = page.parent_path();
  const auto after = [&](std::string_view text, std::size_t from) {
    return std::min(all.find(text, from), all.size() - text.size()) + text.size();
  };
  std::string out;
  for (std::size_t at = 0; at < all.size();) {
    const auto begin = std::min(all.find('<', at), all.size());
    out += all.substr(at, begin - at);
    if (begin == all.size()) break;
    at = after(">", begin);
    const auto tag = all.substr(begin, at - begin);
    const auto link = link_in(tag);
    const auto file = folder / link;
    if (tag.starts_with("<script")) {  // its text has no tags
      at = after("</script>", begin);
      out += link.empty() ? std::string(all.substr(begin, at - begin))
                          : concat("<script>", read_file(file), "</script>");
    } else if (link.empty()) {
      out += tag;
    } else if (!link.starts_with("..") && fs::is_regular_file(file)) {
      out += with_file(tag, link, file);
    } else if (tag.starts_with("<a ")) {
      const auto end = after("</a>", at);
      out += all.substr(at, end - at - std::string_view("</a>").size());
      at = end;
    }
  }
  return out;
}

}  // namespace difflab::report
