#include "config/override/override.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "config/override/functions.h"
#include "config/override/lexer.h"
#include "config/value/scalar.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::config {
namespace {

using Type = Token::Type;

constexpr int kMaxBrackets = 100;

/// Undoes the escapes of a quoted text: only backslashes before a quote count.
std::string unquoted(std::string_view token) {
  const char quote = token[0];
  token.remove_prefix(1);
  std::string text;
  for (std::size_t i = 0; i < token.size();) {
    const auto run = std::min(token.find_first_not_of('\\', i), token.size()) - i;
    if (run > 0 && i + run < token.size() && token[i + run] == quote) {
      text.append(run / 2, '\\');
      if (run % 2 == 1) text += quote;
      i += run + 1;
    } else if (run > 0) {
      text.append(run, '\\');
      i += run;
    } else {
      if (i + 1 < token.size()) text += token[i];  // all but the closing quote
      ++i;
    }
  }
  return text;
}

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 1; i < token.size(); i += 2) text += token[i];
  return text;
}

/// Recursive descent over the tokens; one function per rule of Hydra's OverrideParser.g4.
class ValueParser {
 public:
  /// @param extends becomes true for extend_list(…); null where that has no meaning
  ValueParser(std::vector<Token> tokens, bool* extends)
      : tokens_(std::move(tokens)), extends_(extends) {}

  /// element (COMMA element)*, then the end.
  Element value() {
    if (peek().type == Type::kEnd) return {Value("")};
    Element first = element();
    if (peek().type == Type::kEnd) return first;
    ChoiceSweep sweep;
    sweep.simple = true;
    sweep.choices.push_back(std::move(first));
    while (accept(Type::kComma)) sweep.choices.push_back(element());
    if (peek().type != Type::kEnd) fail("expected , or the end here");
    return {std::move(sweep)};
  }

 private:
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() { return tokens_[next_ < tokens_.size() - 1 ? next_++ : next_]; }
  bool accept(Type type) {
    if (peek().type != type) return false;
    take();
    return true;
  }
  [[noreturn]] void fail(std::string message) const {
    throw SyntaxError{peek().position, std::move(message)};
  }

  Element element() {
    if (++depth_ > kMaxBrackets) fail("brackets nested too deeply");
    Element result = [&]() -> Element {
      switch (peek().type) {
        case Type::kOpenBracket:
          return list();
        case Type::kOpenBrace:
          return dict();
        case Type::kId:
          return peek(1).type == Type::kOpenParen ? function() : primitive();
        default:
          return primitive();
      }
    }();
    --depth_;
    return result;
  }

  Element list() {
    take();
    std::vector<Element> items;
    if (!accept(Type::kCloseBracket)) {
      do items.push_back(element());
      while (accept(Type::kComma));
      if (!accept(Type::kCloseBracket)) fail("expected , or ] here");
    }
    return {std::move(items)};
  }

  /// As in Python, a key that comes again keeps its place and takes the later value.
  Element dict() {
    take();
    Dict map;
    std::unordered_map<std::string, std::size_t> places;
    if (!accept(Type::kCloseBrace)) {
      do {
        Element key = unquoted_primitive(/*is_key=*/true);
        if (!accept(Type::kColon)) fail("expected : here");
        Element value = element();
        const auto [place, added] =
            places.try_emplace(identity_of_key(std::get<Value>(key.data)), map.entries.size());
        if (added) {
          map.entries.push_back({std::move(key), std::move(value)});
        } else {
          map.entries[place->second].value = std::move(value);
        }
      } while (accept(Type::kComma));
      if (!accept(Type::kCloseBrace)) fail("expected , or } here");
    }
    return {std::move(map)};
  }

  /// Equal for keys that Python holds for equal: 1, 1.0 and true are, two NaN are not.
  std::string identity_of_key(const Value& key) const {
    if (key.is_string()) return concat("text ", key.as_string());
    if (key.is_null()) return "null";
    if (key.is_bool()) return key.as_bool() ? "1" : "0";
    if (key.is_int()) return key.as_string();
    const double number = key.as_double();
    if (std::isnan(number)) return concat("nan ", next_);
    const bool whole = number == std::floor(number) && std::abs(number) < 0x1p63;
    return whole ? std::to_string(static_cast<std::int64_t>(number)) : number_text(number);
  }

  Element function() {
    const std::size_t start = peek().position;
    FunctionCall call{std::string(take().text), {}, {}};
    take();
    if (!accept(Type::kCloseParen)) {
      do argument(call);
      while (accept(Type::kComma));
      if (!accept(Type::kCloseParen)) fail("expected , or ) here");
    }
    if (call.name == "extend_list") return extension(start, std::move(call));
    try {
      return evaluate(std::move(call));
    } catch (const UserError& error) {
      throw SyntaxError{start, error.what()};
    }
  }

  /// Reads extend_list(…) of Hydra 1.4.
  Element extension(std::size_t start, FunctionCall call) {
    const bool alone = start == tokens_[0].position && peek().type == Type::kEnd;
    if (!extends_ || !alone || !call.named.empty()) {
      throw SyntaxError{start, "extend_list(a,b) takes values, and stands alone after KEY="};
    }
    *extends_ = true;
    return {std::move(call.arguments)};
  }

  void argument(FunctionCall& call) {
    if (peek().type == Type::kId && peek(1).type == Type::kEqual) {
      std::string name(take().text);
      take();
      call.named.emplace_back(std::move(name), element());
    } else {
      if (!call.named.empty()) fail("a positional argument follows a named one");
      call.arguments.push_back(element());
    }
  }

  Element primitive() {
    if (peek().type != Type::kQuoted) return unquoted_primitive(/*is_key=*/false);
    const std::string_view token = take().text;
    return {Quoted{unquoted(token), token[0]}};
  }

  static bool belongs_to_primitive(Type type, bool is_key) {
    if (type == Type::kColon || type == Type::kInterpolation) return !is_key;
    return type >= Type::kFloat && type <= Type::kSpace;
  }

  /// A run of tokens: one alone is typed, several are joined as text.
  Element unquoted_primitive(bool is_key) {
    std::vector<Token> parts;
    while (belongs_to_primitive(peek().type, is_key)) parts.push_back(take());
    if (!parts.empty() && parts.front().type == Type::kSpace) parts.erase(parts.begin());
    if (!parts.empty() && parts.back().type == Type::kSpace) parts.pop_back();
    if (parts.empty()) fail(is_key ? "expected a key here" : "expected a value here");
    if (parts.size() == 1) return {scalar(parts.front())};
    std::string text;
    for (const Token& part : parts) {
      text += part.type == Type::kEscape ? unescaped(part.text) : std::string(part.text);
    }
    return {Value(std::move(text))};
  }

  Value scalar(const Token& token) const {
    switch (token.type) {
      case Type::kNull:
        return Value();
      case Type::kBool:
        return Value((token.text[0] | 0x20) == 't');
      case Type::kEscape:
        return Value(unescaped(token.text));
      case Type::kInt: {
        const auto number = parse_int(token.text);
        if (!number) throw SyntaxError{token.position, "this number does not fit into 64 bits"};
        return Value(*number);
      }
      case Type::kFloat: {
        std::string digits(token.text);
        std::erase(digits, '_');
        return Value(std::strtod(digits.c_str(), nullptr));  // inf and nan too, in any case
      }
      default:
        return Value(token.text);
    }
  }

  std::vector<Token> tokens_;
  bool* extends_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string pointed_at(std::string_view text, const SyntaxError& error) {
  // Tabs and line ends would move the caret away from its column.
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return concat("override '", line, "': ", error.message, "\n  ", line, "\n  ",
                std::string(characters(text.substr(0, error.position)), ' '), "^");
}

void parse(std::string_view text, Override& result) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) throw SyntaxError{i, "this byte is not UTF-8"};
    if (text[i] == '\0') throw SyntaxError{i, "a NUL byte has no place here"};
    i += length;
  }
  const std::size_t end = parse_override_key(text, result);
  if (end == text.size() && result.type == Override::Type::kDelete) return;
  if (end == text.size()) throw SyntaxError{end, "expected = and a value here"};
  if (text[end] != '=') {
    throw SyntaxError{end, text[end] == ' '
                               ? "a key cannot contain a blank"
                               : "expected = here (a key has letters, digits, _ - . /)"};
  }
  const std::size_t begin = std::min(text.find_first_not_of(" \t", end + 1), text.size());
  result.value = ValueParser(tokenize_value(text, begin), &result.extends).value();
}

}  // namespace

Value Override::to_value() const {
  Value tree = value ? config::to_value(*value) : Value();
  set_source(tree, source);
  return tree;
}

Override parse_override(std::string_view text) {
  Override result;
  result.text = text;
  result.source = Source::of_override(text);
  try {
    parse(text, result);
  } catch (const SyntaxError& error) {
    throw UserError(pointed_at(text, error));
  }
  return result;
}

std::vector<Override> parse_overrides(const std::vector<std::string>& texts, Problems& problems) {
  std::vector<Override> items;
  for (const std::string& text : texts) {
    try {
      items.push_back(parse_override(text));
    } catch (const UserError& error) {
      problems.add({}, "", error.what());
    }
  }
  return items;
}

Element parse_override_value(std::string_view text) {
  try {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    return ValueParser(tokenize_value(text, begin), nullptr).value();
  } catch (const SyntaxError& error) {
    throw UserError(concat(error.message, " in '", text, "', column ",
                           characters(text.substr(0, error.position)) + 1));
  }
}

}  // namespace difflab::config
