#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/schema/fields.h"

namespace difflab {

enum class TokenizerKind { kByte, kCharacter, kWord };

template <>
inline constexpr auto config::kNames<TokenizerKind> = names("byte", "character", "word");

/// Turns text into tokens in [0, vocab_size) and back; nothing is lost on the way.
class Tokenizer {
 public:
  /// 256 tokens, each the byte of its number: takes any bytes.
  static Tokenizer bytes();

  /// One token per character (Unicode code point) of a UTF-8 text, numbered in the order of the
  /// code points: 65 for Tiny Shakespeare, "\n" 0, " " 1 … "z" 64.
  /// @param name what messages call the text, e.g. its path.
  /// @throws UserError with line and byte offset where the text is no UTF-8.
  static Tokenizer characters_of(std::string_view text, std::string_view name = "the text");

  /// One token per word of a UTF-8 text, numbered in the order of their bytes: a word is letters
  /// with a blank that may stand before them; every other character, digits too, is a word of its
  /// own: " Lima", " is", ":", " ", "4", "0". @throws UserError as characters_of does.
  static Tokenizer words_of(std::string_view text, std::string_view name = "the text");

  /// How many tokens a text makes that is UTF-8. @throws UserError as characters_of does.
  static std::int64_t count(TokenizerKind kind, std::string_view text,
                            std::string_view name = "the text");

  bool operator==(const Tokenizer&) const = default;

  TokenizerKind kind() const { return kind_; }
  std::int64_t vocab_size() const;  ///< V

  /// @throws UserError naming a character or word that the vocabulary does not hold and what it
  /// holds, or where the text is no UTF-8 (not with bytes).
  std::vector<std::int64_t> encode(std::string_view text, std::string_view name = "the text") const;

  /// UTF-8 text, or with bytes whatever they make.
  /// @throws std::out_of_range for a token that is not in [0, vocab_size).
  std::string decode(std::span<const std::int64_t> tokens) const;

 private:
  explicit Tokenizer(TokenizerKind kind) : kind_(kind) {}
  std::vector<std::int64_t> encode_words(std::string_view text, std::string_view name) const;

  TokenizerKind kind_;
  std::vector<char32_t> characters_ = {};  // token -> code point, ascending; characters alone
  std::vector<std::string> words_ = {};    // token -> word, ascending; words alone
};

}  // namespace difflab
