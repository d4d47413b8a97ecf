#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "statistics/describe.h"

namespace difflab::report {

inline constexpr std::string_view kSuperscriptMinus = "⁻";
inline constexpr std::string_view kSuperscripts[] = {"⁰", "¹", "²", "³", "⁴",
                                                     "⁵", "⁶", "⁷", "⁸", "⁹"};

/// 1234567.891 with 1 decimal: "1,234,567.9"; the minus sign is U+2212 if `typographic`.
std::string format_number(double value, int decimals, bool typographic = true);

/// Shortest text that reads back as the same double: "0.003", "1600". Empty for NaN and infinity.
std::string plain_number(double value);
inline std::string plain_number(const std::optional<double>& value) {
  return value ? plain_number(*value) : "";
}

/// A p value to three decimals, or as many as tell on which side of .05 it is; never "0.000":
/// "0.250" or "< 0.001"; with its name "p = 0.250".
std::string p_text(double p);

std::string named_p(double p);

/// "1 seed", "3 seeds".
std::string number_of(std::size_t count, std::string_view what);

/// The text with a capital first letter.
std::string capital(std::string text);

/// The number of terminal columns of UTF-8 text: combining marks take none, CJK takes two.
std::size_t display_width(std::string_view text);

/// Text padded with spaces to `width` columns, on its right or on its left.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

/// `text` broken at spaces into lines of at most `width` columns, each but the first indented.
std::string wrap(std::string_view text, std::size_t width, std::string_view indent = "");

/// Each control character and line separator as a blank, but for tabs and line ends. What escapes a
/// text does the same.
std::string without_controls(std::string_view text);

void replace_all(std::string& text, std::string_view from, std::string_view to);

/// True if no letter or digit stands directly before or after this part of a text.
bool is_word(std::string_view text, std::size_t at, std::size_t length);

std::string escape_html(std::string_view text);      ///< & < > " '
std::string escape_markdown(std::string_view text);  ///< | \ ` * _ < [ ] and line breaks
std::string escape_csv(std::string_view text);       ///< quoted if it must be (RFC 4180)

/// One line of CSV: the cells escaped, with commas between and a line end.
std::string csv_line(const std::vector<std::string>& cells);

/// Both ends as two more cells; empty without an interval.
void add_ends(const std::optional<Interval>& interval, std::vector<std::string>& cells);

/// LaTeX for text: special characters escaped, Greek letters, ±, −, >, ×, arrows and the subscript
/// of names such as λ_init in math.
std::string escape_tex(std::string_view text);

/// `text` with subscripts marked as HTML: "λ_init" is "λ<sub>init</sub>". Escapes the rest.
std::string subscripts_html(std::string_view text);

}  // namespace difflab::report
