#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/value/scalar.h"
#include "config/value/yaml.h"
#include "util/text.h"

namespace difflab::config {
namespace {

constexpr std::size_t kLineWidth = 100;
constexpr std::size_t kLongestSimpleKey = 1000;  // YAML allows 1024 characters before the colon

/// Texts that other YAML readers take for something else.
bool is_misread_elsewhere(const std::string& text) {
  static constexpr std::array<std::string_view, 9> kWords{"y",   "n",    "yes",  "no",   "on",
                                                          "off", "null", "true", "false"};
  return is_among(lower_case(text), kWords) ||
         text.find_first_not_of("0123456789:_") == std::string::npos;
}

bool is_safe_plain(const std::string& text) {
  constexpr std::string_view kAnywhere =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+$^() ";
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.front() == '-' ||
      text.starts_with("...") || is_misread_elsewhere(text)) {
    return false;
  }
  const bool plain = std::ranges::all_of(
      text, [&](char c) { return c < 0 || kAnywhere.find(c) != std::string_view::npos; });
  const auto typed = plain ? plain_scalar(text) : std::nullopt;
  return typed && typed->is_string();
}

/// Also of line separators beside \n and of the byte order mark, which readers treat in different
/// ways.
std::string escaped(std::string_view character) {
  if (character == "\"" || character == "\\") return "\\" + std::string(character);
  if (character == "\n") return "\\n";
  if (character == "\t") return "\\t";
  if (character == "\xC2\x85") return "\\u0085";
  if (character == "\xE2\x80\xA8") return "\\u2028";
  if (character == "\xE2\x80\xA9") return "\\u2029";
  if (character == "\xEF\xBB\xBF") return "\\uFEFF";
  if (!is_control(character[0])) return std::string(character);
  return fmt::format("\\x{:02X}", static_cast<unsigned char>(character[0]));
}

std::string text_scalar(const std::string& text) {
  std::string with_escapes, quoted;
  bool needs_escapes = false;
  for (std::string_view rest = text; !rest.empty();) {
    const auto character = first_character(rest);
    with_escapes += escaped(character);
    quoted += character == "'" ? "''" : character;
    const bool is_quoted_only = character == "\"" || character == "\\";
    needs_escapes |= !is_quoted_only && escaped(character) != character;
    rest.remove_prefix(character.size());
  }
  if (needs_escapes) return '"' + with_escapes + '"';
  return is_safe_plain(text) ? text : "'" + quoted + "'";
}

std::string scalar(const Value& value) {
  if (value.is_string()) return text_scalar(value.as_string());
  const std::string text = value.as_string();
  if (text == "inf" || text == "nan") return "." + text;
  return text == "-inf" ? "-.inf" : text;
}

/// Text of a value that fits behind its key: a scalar, an empty map, or a short list of such.
std::optional<std::string> in_one_line(const Value& value, std::size_t width) {
  if (value.is_scalar()) return scalar(value);
  if (value.empty()) return value.is_list() ? "[]" : "{}";
  if (!value.is_list()) return std::nullopt;
  std::string line = "[";
  for (const Value& item : value.items()) {
    const auto text = in_one_line(item, width);
    if (!text || line.size() + text->size() + 2 > width) return std::nullopt;
    line += (line.size() > 1 ? ", " : "") + *text;
  }
  return line + "]";
}

void emit_block(const Value& value, std::size_t indent, std::string& out);

/// ` value` in the same line, or a block on the lines below.
void emit_after(const Value& value, std::size_t indent, std::size_t used, std::string& out) {
  const std::size_t width = used + 20 < kLineWidth ? kLineWidth - used : 20;
  if (const auto line = in_one_line(value, width)) {
    out += ' ' + *line + '\n';
  } else {
    out += '\n';
    emit_block(value, indent, out);
  }
}

void emit_entry(const Value::Entry& entry, std::size_t indent, std::string& out) {
  const std::string key = text_scalar(entry.key);
  if (key.size() > kLongestSimpleKey) {
    out += "? " + key + '\n' + std::string(indent, ' ') + ':';
  } else {
    out += key + ':';
  }
  emit_after(entry.value, indent + 2, indent + key.size() + 1, out);
}

void emit_block(const Value& value, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const Value& item : value.items()) {
    out += margin + "-";
    if (item.is_map() && !item.empty()) {  // the first key stands behind the dash
      out += ' ';
      for (const Value::Entry& entry : item.entries()) {
        if (&entry != &item.entries().front()) out += margin + "  ";
        emit_entry(entry, indent + 2, out);
      }
    } else {
      emit_after(item, indent + 2, indent + 1, out);
    }
  }
  for (const Value::Entry& entry : value.entries()) {
    out += margin;
    emit_entry(entry, indent, out);
  }
}

}  // namespace

std::string to_yaml(const Value& value) {
  if (value.is_scalar() || value.empty()) return *in_one_line(value, kLineWidth) + '\n';
  std::string out;
  emit_block(value, 0, out);
  return out;
}

}  // namespace difflab::config
