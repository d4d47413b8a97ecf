#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace difflab {

/// One argument of concat as text. Numbers read as a stream prints them: 300, 0.1, 1e-09, nan.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}
  Piece(const std::string& text) : text_(text) {}
  Piece(const char* text) : text_(text) {}
  Piece(char letter) : number_{letter}, text_(number_, 1) {}
  Piece(double value);
  template <class T>
  requires(std::integral<T> || std::is_enum_v<T>) Piece(T value)
      : text_(number_, std::to_chars(number_, number_ + sizeof number_, +value).ptr) {}
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::string_view text() const { return text_; }

 private:
  char number_[32];
  std::string_view text_;
};

/// The pieces in one string.
std::string concat_pieces(std::initializer_list<Piece> pieces);

/// The printed arguments in one string: concat("T = ", 300) is "T = 300".
template <class... Args>
std::string concat(const Args&... args) {
  return concat_pieces({Piece(args)...});
}

/// True if a character is one of 0 to 9, in every locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// True if a character is a control character of ASCII.
constexpr bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

/// True if a byte of UTF-8 text is the first of a character.
constexpr bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// The number of bytes of the UTF-8 character at the front, 0 if it is malformed.
std::size_t utf8_length(std::string_view text);

/// The UTF-8 character at the front; of a malformed one the first byte.
inline std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(utf8_length(text), 1));
}

/// The text with the letters A to Z in lower case, in every locale.
std::string lower_case(std::string text);

/// The number that a text is from its first to its last character, as std::from_chars reads it with
/// this base or format; nothing if it is none, or too large.
template <class Number, class... Format>
std::optional<Number> parse_whole(std::string_view text, Format... format) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, format...);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// Membership in a list, such as one of names.
template <class Item, class List>
bool is_among(const Item& item, const List& list) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// The words with `separator` between them.
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

/// "a,b" -> {"a", "b"}; "" -> {""}.
std::vector<std::string> split(std::string_view text, char separator);

/// The text without `blanks` at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

/// The last line of a text that is not blank, without its line end; "" if there is none.
std::string last_line(std::string_view text);

/// A word as a POSIX shell reads it back, and as a person can paste it into one.
std::string quoted_for_shell(std::string_view text);

/// The candidate nearest to `word` in edit distance, or nothing if none is within two edits.
std::optional<std::string> closest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "; did you mean X?" for the closest candidate, otherwise "; expected one of A, B, C".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace difflab
