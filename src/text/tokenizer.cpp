#include "text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "util/error.h"
#include "util/text.h"

namespace difflab {
namespace {

constexpr std::int64_t kByteValues = 256;
constexpr std::size_t kCodePoints = 0x110000;
constexpr std::size_t kMostShown = 200;  // characters that a message lists

// The code point of one well-formed UTF-8 character.
char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7Fu >> character.size());
  for (const char byte : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3Fu);
  }
  return code;
}

void append_utf8(char32_t code, std::string& text) {
  const auto continuation = [&](int shift) {
    return static_cast<char>(0x80u | (code >> shift & 0x3Fu));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xC0u | code >> 6), continuation(0)};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xE0u | code >> 12), continuation(6), continuation(0)};
  } else {
    text +=
        {static_cast<char>(0xF0u | code >> 18), continuation(12), continuation(6), continuation(0)};
  }
}

// Calls take(code point, byte offset) for each character.
template <class Take>
void for_each_character(std::string_view text, std::string_view name, Take take) {
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t length = utf8_length(text.substr(offset, 4));
    if (length == 0) {
      const auto line =
          1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
      throw UserError(fmt::format(
          "{}:{}: the byte 0x{:02X} at offset {} is not UTF-8; save it as UTF-8, or take "
          "tokenizer: byte, which reads any bytes",
          name, line, static_cast<unsigned char>(text[offset]), offset));
    }
    take(code_point(text.substr(offset, length)), offset);
    offset += length;
  }
}

// How a message shows a character: a, é, \n, or its number if it has no shape of its own.
std::string shown(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
    return fmt::format("U+{:04X}", static_cast<std::uint32_t>(code));
  }
  std::string text;
  append_utf8(code, text);
  return text;
}

std::string list_of(const std::vector<char32_t>& characters) {
  std::string text;
  for (std::size_t i = 0; i < std::min(characters.size(), kMostShown); ++i) {
    text += shown(characters[i]);
  }
  if (characters.size() > kMostShown) {
    text += concat(" and ", characters.size() - kMostShown, " more");
  }
  return text;
}

// Beyond ASCII, all but the blocks of punctuation and symbols are letters: Latin-1's signs, general
// and supplemental punctuation with dashes and curly quotes, currencies, arrows to geometric
// shapes, CJK and fullwidth punctuation, emoji. Scripts that keep punctuation in their own blocks
// have some of it inside words.
bool is_letter(char32_t code) {
  const auto in = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (code < 0x80) return in('a', 'z') || in('A', 'Z');
  if (in(0x80, 0xbf)) return code == 0xaa || code == 0xb5 || code == 0xba;
  return code != 0xd7 && code != 0xf7 && !in(0x2000, 0x206f) && !in(0x20a0, 0x20cf) &&
         !in(0x2190, 0x2bff) && !in(0x2e00, 0x2e7f) && !in(0x3000, 0x3003) && !in(0x3008, 0x3020) &&
         !in(0xfe10, 0xfe1f) && !in(0xfe30, 0xfe6f) && !in(0xff00, 0xff20) && !in(0xff3b, 0xff40) &&
         !in(0xff5b, 0xff65) && !in(0x1f000, 0x1faff);
}

// The character that a text begins with, which is UTF-8, and its bytes.
std::pair<char32_t, std::size_t> first_character(std::string_view text) {
  const std::size_t length = utf8_length(text.substr(0, 4));
  return {code_point(text.substr(0, length)), length};
}

// Bytes of the word that a text begins with.
std::size_t word_length(std::string_view text) {
  std::size_t end = text.front() == ' ' ? 1 : 0;
  const auto letters = [&] {
    const auto [code, length] =
        end < text.size() ? first_character(text.substr(end)) : std::pair<char32_t, std::size_t>();
    return length > 0 && is_letter(code) ? length : 0;
  };
  if (letters() == 0) return first_character(text).second;
  while (const auto length = letters()) end += length;
  return end;
}

// Calls take(word, byte offset) for each word.
template <class Take>
void for_each_word(std::string_view text, std::string_view name, Take take) {
  for_each_character(text, name, [](char32_t, std::size_t) {});  // that it is UTF-8
  for (std::size_t offset = 0; offset < text.size();) {
    const auto length = word_length(text.substr(offset));
    take(text.substr(offset, length), offset);
    offset += length;
  }
}

}  // namespace

Tokenizer Tokenizer::bytes() { return Tokenizer(TokenizerKind::kByte); }

Tokenizer Tokenizer::words_of(std::string_view text, std::string_view name) {
  std::set<std::string_view> words;
  for_each_word(text, name, [&](std::string_view word, std::size_t) { words.insert(word); });
  Tokenizer tokenizer(TokenizerKind::kWord);
  tokenizer.words_.assign(words.begin(), words.end());
  return tokenizer;
}

std::int64_t Tokenizer::count(TokenizerKind kind, std::string_view text, std::string_view name) {
  std::int64_t tokens = 0;
  if (kind == TokenizerKind::kByte) {
    tokens = static_cast<std::int64_t>(text.size());
  } else if (kind == TokenizerKind::kCharacter) {
    for_each_character(text, name, [&](char32_t, std::size_t) { ++tokens; });
  } else {
    for_each_word(text, name, [&](std::string_view, std::size_t) { ++tokens; });
  }
  return tokens;
}

Tokenizer Tokenizer::characters_of(std::string_view text, std::string_view name) {
  std::vector<bool> seen(kCodePoints);
  for_each_character(text, name, [&](char32_t code, std::size_t) { seen[code] = true; });
  Tokenizer tokenizer(TokenizerKind::kCharacter);
  for (std::size_t code = 0; code < seen.size(); ++code) {
    if (seen[code]) tokenizer.characters_.push_back(static_cast<char32_t>(code));
  }
  return tokenizer;
}

std::int64_t Tokenizer::vocab_size() const {
  if (kind_ == TokenizerKind::kByte) return kByteValues;
  return static_cast<std::int64_t>(kind_ == TokenizerKind::kWord ? words_.size()
                                                                 : characters_.size());
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text, std::string_view name) const {
  if (kind_ == TokenizerKind::kWord) return encode_words(text, name);
  std::vector<std::int64_t> tokens;
  tokens.reserve(text.size());
  if (kind_ == TokenizerKind::kByte) {
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }
  for_each_character(text, name, [&](char32_t code, std::size_t offset) {
    const auto at = std::lower_bound(characters_.begin(), characters_.end(), code);
    if (at == characters_.end() || *at != code) {
      throw UserError(fmt::format(
          "{}: the character '{}' (U+{:04X}) at byte offset {} is not in the vocabulary; expected "
          "only the {} characters of the corpus: {}",
          name, shown(code), static_cast<std::uint32_t>(code), offset, characters_.size(),
          list_of(characters_)));
    }
    tokens.push_back(at - characters_.begin());
  });
  return tokens;
}

std::vector<std::int64_t> Tokenizer::encode_words(std::string_view text,
                                                  std::string_view name) const {
  std::vector<std::int64_t> tokens;
  for_each_word(text, name, [&](std::string_view word, std::size_t offset) {
    const auto at = std::lower_bound(words_.begin(), words_.end(), word);
    if (at == words_.end() || *at != word) {
      throw UserError(fmt::format(
          "{}: the word '{}' at byte offset {} is not among the {} words of the corpus{}", name,
          word, offset, words_.size(), suggestion(std::string(word), words_)));
    }
    tokens.push_back(at - words_.begin());
  });
  return tokens;
}

std::string Tokenizer::decode(std::span<const std::int64_t> tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (const std::int64_t token : tokens) {
    if (token < 0 || token >= vocab_size()) {
      throw std::out_of_range(concat("token ", token, " of a vocabulary of ", vocab_size()));
    }
    if (kind_ == TokenizerKind::kByte) {
      text += static_cast<char>(token);
    } else if (kind_ == TokenizerKind::kWord) {
      text += words_[static_cast<std::size_t>(token)];
    } else {
      append_utf8(characters_[static_cast<std::size_t>(token)], text);
    }
  }
  return text;
}

}  // namespace difflab
