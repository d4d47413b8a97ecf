#include "config/override/lexer.h"

#include <algorithm>
#include <array>

#include "config/override/override.h"
#include "config/value/scalar.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Type = Token::Type;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c < 0;
}

/// 0, or digits that begin with another one and may have single _ between them.
std::size_t whole_number_length(std::string_view text) {
  return text.starts_with('0') ? 1 : digits_length(text);
}

/// Letters, digits, _ and -; beyond Hydra any non-ASCII character counts as a letter.
std::size_t identifier_length(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return 0;
  const auto end = std::find_if_not(text.begin(), text.end(),
                                    [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
  return static_cast<std::size_t>(end - text.begin());
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
  return lower_case(std::string(text.substr(0, word.size()))) == word;
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

class KeyParser {
 public:
  KeyParser(std::string_view text, Override& result) : text_(text), result_(result) {}

  /// The position after the key.
  std::size_t parse() {
    if (accept("++")) {
      result_.type = Override::Type::kForceAdd;
    } else if (accept("+")) {
      result_.type = Override::Type::kAdd;
    } else if (accept("~")) {
      result_.type = Override::Type::kDelete;
    }
    const std::size_t start = next_;
    if (!group()) path();
    result_.key = text_.substr(start, next_ - start);
    if (accept("@")) {
      const std::size_t package = next_;
      path();
      result_.package = text_.substr(package, next_ - package);
    }
    return next_;
  }

 private:
  bool accept(std::string_view token) {
    if (!text_.substr(next_).starts_with(token)) return false;
    next_ += token.size();
    return true;
  }

  std::string_view rest() const { return text_.substr(next_); }

  /// A name: letters, digits, _ and -, in paths also $.
  bool name(bool dollars) {
    const std::size_t start = next_;
    while (!rest().empty()) {
      if (dollars && rest()[0] == '$') {
        ++next_;
      } else if (const std::size_t length = identifier_length(rest()); length > 0) {
        next_ += length;
      } else if (next_ > start && (rest()[0] == '-' || is_digit(rest()[0]))) {
        ++next_;
      } else {
        break;
      }
    }
    return next_ > start;
  }

  bool number() {
    const std::size_t length = whole_number_length(rest());
    next_ += length;
    return length > 0;
  }

  /// a/b, where no part is a path itself. Takes nothing if it is none.
  bool group() {
    const std::size_t start = next_;
    if (!name(/*dollars=*/false) || !rest().starts_with('/')) {
      next_ = start;
      return false;
    }
    while (accept("/")) {
      if (!name(/*dollars=*/false)) fail("expected the name of a config group here");
    }
    return true;
  }

  /// a, a.b.0, 0.a, a[0].b or nothing.
  void path() {
    const bool begins_with_number = number();
    if (!begins_with_number && !name(/*dollars=*/true)) return;
    for (bool alone = true;; alone = false) {
      if (accept(".")) {
        if (!number() && !name(/*dollars=*/true)) fail("expected a key here");
      } else if (accept("[")) {
        if (!number() && !name(/*dollars=*/true)) fail("expected a number here");
        if (!accept("]")) fail("expected ] here");
      } else if (alone && begins_with_number) {
        fail("a number alone is not a key");
      } else {
        return;
      }
    }
  }

  [[noreturn]] void fail(std::string message) const {
    throw SyntaxError{next_, std::move(message)};
  }

  std::string_view text_;
  std::size_t next_ = 0;
  Override& result_;
};

}  // namespace

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

std::size_t parse_override_key(std::string_view text, Override& result) {
  return KeyParser(text, result).parse();
}

}  // namespace difflab::config
