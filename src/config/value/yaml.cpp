#include "config/value/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "config/value/problems.h"
#include "config/value/yaml_builder.h"
#include "util/error.h"
#include "util/files.h"
#include "util/text.h"

namespace difflab::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = 1 << 20;

/// Text that may be parsed: without byte order mark and with \n line ends.
/// @throws UserError "name:line:column: …" for bytes that are no UTF-8 and for control characters
std::string normalised_text(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  std::string text;
  text.reserve(bytes.size());
  Source place{name, 1, 1};
  while (!bytes.empty()) {
    if (bytes.starts_with("\r\n")) bytes.remove_prefix(1);
    const auto first = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = utf8_length(bytes);
    if (length == 0) {
      throw UserError(concat(place.text(), ": the byte ", fmt::format("0x{:02X}", first),
                             " is not UTF-8; save the file as UTF-8"));
    }
    const bool line_end = first == '\n' || first == '\r';
    if (is_control(bytes[0]) && first != '\t' && !line_end) {
      throw UserError(concat(place.text(), ": control character ", fmt::format("0x{:02X}", first),
                             "; expected text (in double quotes it can be written as an escape)"));
    }
    text += line_end ? std::string_view("\n") : bytes.substr(0, length);
    bytes.remove_prefix(length);
    place.line += line_end ? 1 : 0;
    place.column = line_end ? 1 : place.column + 1;
  }
  return text;
}

/// The value of `# @package …` among the comments at the top.
std::optional<std::string> package_header(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (!line.starts_with('#')) return std::nullopt;
    line = trimmed(line.substr(1));
    constexpr std::string_view kPackage = "@package";
    if (line.starts_with(kPackage)) return std::string(trimmed(line.substr(kPackage.size())));
  }
  return std::nullopt;
}

/// The last line up to `line`, counted from 0, that has a tab before its text: its number from 1,
/// or 0 if there is none.
int tab_indented(std::string_view text, int line) {
  int found = 0;
  for (int number = 1; number <= line + 1 && !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto margin = text.substr(0, std::min(text.find_first_not_of(" \t"), end));
    if (margin.size() < end && margin.find('\t') != margin.npos) found = number;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

/// yaml-cpp takes the ??? of `{steps: ???}` for the beginning of a key. A stand-in of the same
/// size, which no text contains, leaves every position as it is; the builder puts ??? back.
std::string with_stand_ins(std::string text) {
  constexpr std::string_view kMissing = "???", kBefore = " \t\n,[{:", kAfter = " \t\n,]}";
  for (auto at = text.find(kMissing); at != text.npos; at = text.find(kMissing, at + 1)) {
    const auto end = at + kMissing.size();
    const bool begins = at == 0 || kBefore.find(text[at - 1]) != kBefore.npos;
    const bool ends = end == text.size() || kAfter.find(text[end]) != kAfter.npos;
    if (begins && ends) text.replace(at, kMissing.size(), YamlBuilder::kMissingStandIn);
  }
  return text;
}

}  // namespace

Document parse_document(std::string_view bytes, const std::string& name) {
  if (bytes.size() > kMaxBytes) {
    throw UserError(concat(name, ": has ", bytes.size(), " bytes; expected at most ", kMaxBytes));
  }
  const std::string text = normalised_text(bytes, name);
  YamlBuilder builder(name, text);
  std::istringstream stream(with_stand_ins(text));
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    parser.HandleNextDocument(builder);  // reports a second document
  } catch (const YAML::Exception& error) {
    // yaml-cpp says where an open quote began only if the last line ends.
    if (!text.ends_with('\n')) return parse_document(concat(text, "\n"), name);
    const int tab = tab_indented(text, error.mark.line);
    builder.problems().add(tab > 0 ? Source{name, tab, 1} : builder.source_of(error.mark), "",
                           tab > 0 ? "a tab indents this line; expected blanks" : error.msg);
  }
  builder.problems().throw_if_any();
  return {builder.take_root(), package_header(text)};
}

Value parse_yaml(std::string_view text, const std::string& name) {
  return parse_document(text, name).root;
}

std::string shown_path(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  const fs::path relative = absolute.lexically_relative(fs::current_path(error));
  const bool inside = !error && !relative.empty() && *relative.begin() != "..";
  return inside ? relative.string() : path.lexically_normal().string();
}

Document load_document(const fs::path& path) {
  return parse_document(read_file(path), shown_path(path));
}

Value load_yaml(const fs::path& path) { return load_document(path).root; }

}  // namespace difflab::config
