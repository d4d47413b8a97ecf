#include "config/override/lexer.h"

#include <algorithm>
#include <array>

#include "config/value/scalar.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Type = Token::Type;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c < 0;
}

std::size_t blanks(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

/// INT_UNSIGNED '.' | INT_UNSIGNED? '.' DIGIT ('_'? DIGIT)*.
std::size_t point_float_length(std::string_view text) {
  const std::size_t whole = whole_number_length(text);
  if (whole >= text.size() || text[whole] != '.') return 0;
  const std::size_t fraction = digits_length(text.substr(whole + 1));
  return whole + fraction == 0 ? 0 : whole + 1 + fraction;
}

bool equal_ignoring_case(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [](char a, char b) { return a == b || (is_letter(b) && (b | 0x20) == a); });
}

std::size_t sign_length(std::string_view text) {
  return !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
}

std::size_t float_length(std::string_view text) {
  const std::size_t sign = sign_length(text);
  text.remove_prefix(sign);
  std::size_t length = point_float_length(text);
  const std::size_t mantissa = std::max(length, whole_number_length(text));
  if (mantissa > 0 && mantissa < text.size() && (text[mantissa] | 0x20) == 'e') {
    const std::size_t exponent_sign = sign_length(text.substr(mantissa + 1));
    const std::size_t digits = digits_length(text.substr(mantissa + 1 + exponent_sign));
    if (digits > 0) length = mantissa + 1 + exponent_sign + digits;
  }
  if (equal_ignoring_case(text, "inf") || equal_ignoring_case(text, "nan")) length = 3;
  return length == 0 ? 0 : sign + length;
}

std::size_t int_length(std::string_view text) {
  const std::size_t sign = sign_length(text);
  const std::size_t digits = whole_number_length(text.substr(sign));
  return digits == 0 ? 0 : sign + digits;
}

/// A run of backslashes that each escape one of \ ( ) [ ] { } : = , blank.
std::size_t escape_length(std::string_view text) {
  std::size_t length = 0;
  while (length + 1 < text.size() && text[length] == '\\' &&
         std::string_view("\\()[]{}:=, \t").find(text[length + 1]) != std::string_view::npos) {
    length += 2;
  }
  return length;
}

/// Up to the first quote that has an even number of backslashes before it.
std::size_t quoted_length(std::string_view text) {
  if (text.empty() || (text[0] != '\'' && text[0] != '"')) return 0;
  std::size_t backslashes = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == text[0] && backslashes % 2 == 0) return i + 1;
    backslashes = text[i] == '\\' ? backslashes + 1 : 0;
  }
  return 0;
}

/// ${…} with braces that may nest, which Hydra's own lexer does not do.
std::size_t interpolation_length(std::string_view text) {
  if (!text.starts_with("${")) return 0;
  std::size_t depth = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i > 2 ? i + 1 : 0;
  }
  return 0;
}

struct Match {
  Type type;
  std::size_t length;
};

/// Brackets, commas, colons and equal signs with the blanks that belong to them.
Match punctuation(std::string_view text) {
  constexpr std::string_view kSigns = "(,)[]{}:=";  // as Type begins
  const std::size_t before = blanks(text);
  const auto sign = before < text.size() ? kSigns.find(text[before]) : kSigns.npos;
  if (sign == kSigns.npos) return {Type::kEnd, 0};
  const bool opens = text[before] == '[' || text[before] == '{';
  if (opens && before > 0) return {Type::kEnd, 0};
  const bool closes = text[before] == ')' || text[before] == ']' || text[before] == '}';
  const std::size_t after = closes ? 0 : blanks(text.substr(before + 1));
  return {static_cast<Type>(sign), before + 1 + after};
}

/// The longest token at the front; of equally long ones the first in the grammar.
Match longest_match(std::string_view text) {
  const auto word = [&](std::string_view name) {
    return equal_ignoring_case(text, name) ? name.size() : 0;
  };
  const bool character = std::string_view("/-\\+.$%*@?|").find(text[0]) != std::string_view::npos;
  const std::array<Match, 10> candidates{{
      punctuation(text),
      {Type::kFloat, float_length(text)},
      {Type::kInt, int_length(text)},
      {Type::kBool, std::max(word("true"), word("false"))},
      {Type::kNull, word("null")},
      {Type::kCharacter, character ? 1u : 0u},
      {Type::kId, identifier_length(text)},
      {Type::kEscape, escape_length(text)},
      {Type::kSpace, blanks(text)},
      {Type::kQuoted, quoted_length(text)},
  }};
  Match best{Type::kInterpolation, interpolation_length(text)};
  for (auto match = candidates.rbegin(); match != candidates.rend(); ++match) {
    if (match->length > 0 && match->length >= best.length) best = *match;
  }
  return best;
}

}  // namespace

std::size_t whole_number_length(std::string_view text) {
  return text.starts_with('0') ? 1 : digits_length(text);
}

std::size_t identifier_length(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return 0;
  const auto end = std::find_if_not(text.begin(), text.end(),
                                    [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
  return static_cast<std::size_t>(end - text.begin());
}

std::vector<Token> tokenize_value(std::string_view text, std::size_t begin) {
  std::vector<Token> tokens;
  while (begin < text.size()) {
    const std::string_view rest = text.substr(begin);
    const Match match = longest_match(rest);
    if (match.length == 0) {
      const auto found = first_character(rest);
      throw SyntaxError{begin, found == "'" || found == "\""
                                   ? "this quote is not closed"
                                   : concat("unexpected ", found, "; put the text in quotes")};
    }
    tokens.push_back({match.type, rest.substr(0, match.length), begin});
    begin += match.length;
  }
  tokens.push_back({Type::kEnd, {}, begin});
  return tokens;
}

}  // namespace difflab::config
