#include "config/value/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "util/text.h"

namespace difflab::config {
namespace {

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

std::string_view without_sign(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return text;
}

bool only(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// Takes digits off the front; false if there are none.
bool take_digits(std::string_view& text) {
  const std::size_t end = digits_length(text);
  text.remove_prefix(end);
  return end > 0;
}

/// Takes [eE][-+]?[0-9]+ off the front; false if there is none.
bool take_exponent(std::string_view& text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return false;
  std::string_view digits = without_sign(text.substr(1));
  const auto end = std::min(digits.find_first_not_of("0123456789"), digits.size());
  if (end == 0) return false;
  text = digits.substr(end);
  return true;
}

bool looks_like_int(std::string_view text) {
  text = without_sign(text);
  if (text == "0") return true;
  return !text.empty() && text[0] >= '1' && text[0] <= '9' && only(text, "0123456789_");
}

bool looks_like_float(std::string_view text) {
  if (text.starts_with('.')) {  // no sign here: +.5 is text in Hydra
    text.remove_prefix(1);
    if (!take_digits(text)) return false;
    // Hydra's pattern wants a sign in this exponent.
    if (text.size() > 1 && text[1] != '-' && text[1] != '+') return false;
    return text.empty() || (take_exponent(text) && text.empty());
  }
  text = without_sign(text);
  if (!take_digits(text)) return false;
  const bool point = text.starts_with('.');
  if (point) text.remove_prefix(std::min(text.find_first_not_of("0123456789_", 1), text.size()));
  const bool exponent = take_exponent(text);
  return text.empty() && (point || exponent);
}

/// An integer in the given base; `text` has digits only, perhaps a sign.
std::optional<std::int64_t> whole_number(std::string_view text, int base) {
  const bool negative = text.starts_with('-');
  const std::string digits = (negative ? "-" : "") + without_underscores(without_sign(text));
  return parse_whole<std::int64_t>(digits, base);
}

std::optional<Value> as_value(std::optional<std::int64_t> number) {
  return number ? std::optional(Value(*number)) : std::nullopt;
}

/// 0x1F and 0b11, perhaps with a sign before.
std::optional<int> prefixed_base(std::string_view text) {
  text = without_sign(text);
  const auto digits = [&](std::string_view allowed) {
    return text.size() > 2 && only(text.substr(2), allowed) && !only(text.substr(2), "_");
  };
  if (text.starts_with("0x") && digits("0123456789abcdefABCDEF_")) return 16;
  if (text.starts_with("0b") && digits("01_")) return 2;
  return std::nullopt;
}

}  // namespace

std::size_t digits_length(std::string_view text) {
  const auto digit = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  std::size_t end = 0;
  while (digit(end) || (end > 0 && end < text.size() && text[end] == '_' && digit(end + 1))) ++end;
  return end;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  return looks_like_int(text) ? whole_number(text, 10) : std::nullopt;
}

std::optional<double> parse_float(std::string_view text) {
  if (!looks_like_float(text) && !looks_like_int(text)) return std::nullopt;
  return std::strtod(without_underscores(text).c_str(), nullptr);
}

std::optional<Value> plain_scalar(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 3> kTrue{"true", "True", "TRUE"};
  static constexpr std::array<std::string_view, 3> kFalse{"false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 3> kInf{".inf", ".Inf", ".INF"};
  static constexpr std::array<std::string_view, 3> kNan{".nan", ".NaN", ".NAN"};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();

  if (is_among(text, kNull)) return Value();
  if (is_among(text, kTrue)) return Value(true);
  if (is_among(text, kFalse)) return Value(false);
  if (is_among(text, kNan)) return Value(std::nan(""));
  if (is_among(without_sign(text), kInf)) return Value(text[0] == '-' ? -kInfinity : kInfinity);
  if (looks_like_int(text)) return as_value(whole_number(text, 10));
  if (const auto base = prefixed_base(text)) {
    std::string digits(text);
    digits.erase(digits.find('0'), 2);
    return as_value(whole_number(digits, *base));
  }
  if (looks_like_float(text)) return Value(*parse_float(text));
  return Value(text);
}

}  // namespace difflab::config
