#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace difflab::config {

/// A token of the value part of an override, as Hydra's OverrideLexer.g4 cuts it.
struct Token {
  enum class Type {
    kOpenParen,
    kComma,
    kCloseParen,
    kOpenBracket,
    kCloseBracket,
    kOpenBrace,
    kCloseBrace,
    kColon,
    kEqual,
    kFloat,
    kInt,
    kBool,
    kNull,
    kCharacter,  ///< one of / - \ + . $ % * @ ? |
    kId,
    kEscape,
    kSpace,
    kQuoted,
    kInterpolation,
    kEnd,
  };
  Type type;
  std::string_view text;
  std::size_t position;  ///< byte in the override
};

/// A place in an override that the grammar cannot go on from.
struct SyntaxError {
  std::size_t position;  ///< byte in the override
  std::string message;   ///< "expected ]"
};

/// The tokens of `text` from byte `begin` on, with kEnd behind the last. The tokens view `text`.
/// @throws SyntaxError at a character that must be quoted or escaped
std::vector<Token> tokenize_value(std::string_view text, std::size_t begin);

}  // namespace difflab::config
