#include "config/value/text_check.h"

#include <cstdio>

#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

std::string byte_code(unsigned char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02X", byte);
  return text;
}

/// `- x` or `key: x`.
bool begins_entry(std::string_view line) {
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  return word == "-" || (word.size() > 1 && word.back() == ':');
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (starts_character(text[i])) return 0;
  }
  // Overlong forms, surrogates and numbers above U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

bool is_left_open(std::string_view text, std::size_t begin, int column) {
  const char quote = text[begin];
  std::size_t end = begin + 1;
  for (; end < text.size(); ++end) {
    if (text[end] == '\\' && quote == '"') {
      ++end;
    } else if (text[end] == quote) {
      if (quote == '"' || end + 1 == text.size() || text[end + 1] != quote) break;
      ++end;
    }
  }
  if (end >= text.size()) return true;
  for (auto at = text.find('\n', begin); at < end; at = text.find('\n', at + 1)) {
    const auto first = text.find_first_not_of(" \t", at + 1);
    const auto line = text.substr(first, text.find('\n', first) - first);
    if (first - at <= static_cast<std::size_t>(column) && begins_entry(line)) return true;
  }
  return false;
}

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
      throw UserError(concat(place.text(), ": the byte ", byte_code(first),
                             " is no UTF-8; save the file as UTF-8 text"));
    }
    const bool line_end = first == '\n' || first == '\r';
    if ((first < 0x20 && first != '\t' && !line_end) || first == 0x7F) {
      throw UserError(concat(place.text(), ": control character ", byte_code(first),
                             "; expected text (in double quotes it can be written as an escape)"));
    }
    text += line_end ? std::string_view("\n") : bytes.substr(0, length);
    bytes.remove_prefix(length);
    place.line += line_end ? 1 : 0;
    place.column = line_end ? 1 : place.column + 1;
  }
  return text;
}

}  // namespace difflab::config
