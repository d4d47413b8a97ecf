#include "report/data/format.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr std::string_view kMinus = "\u2212";

// The code point at `at`, which moves behind it. A stray byte counts as itself.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  char32_t code = more == 3   ? first & 0x07
                  : more == 2 ? first & 0x0f
                  : more == 1 ? first & 0x1f
                              : first;
  for (int i = 0; i < more && at < text.size(); ++i) {
    code = (code << 6) | (static_cast<unsigned char>(text[at++]) & 0x3f);
  }
  return code;
}

std::size_t columns_of(char32_t code) {
  const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
  if (within(0x0300, 0x036f) || within(0x200b, 0x200f) || within(0xfe00, 0xfe0f)) return 0;
  if (within(0x1100, 0x115f) || within(0x2e80, 0xa4cf) || within(0xac00, 0xd7a3) ||
      within(0xf900, 0xfaff) || within(0xfe30, 0xfe6f) || within(0xff00, 0xff60) ||
      within(0x1f300, 0x1faff)) {
    return 2;
  }
  return 1;
}

// Controls, line separators, marks that turn the direction, and what is no character: none of them
// can be seen, and XML, in which pictures are drawn, may hold only a few.
bool is_control(char32_t code) {
  const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
  if (code == '\t' || code == '\n' || code == '\r') return false;
  return code < 0x20 || within(0x7f, 0x9f) || within(0x2028, 0x202e) || within(0x2066, 0x2069) ||
         within(0xd800, 0xdfff) || within(0xfff9, 0xfffb) || (code & 0xfffe) == 0xfffe;
}

template <class Table>
std::string replace_each(std::string_view text, const Table& table) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t code = next_code_point(text, at);
    const std::string_view character = text.substr(start, at - start);
    const auto found = table.find(character);
    out += found != table.end() ? std::string_view(found->second)
           : is_control(code)   ? std::string_view(" ")
                                : character;
  }
  return out;
}

// A Greek letter followed by _word: where the word starts and ends, or npos.
struct Subscript {
  std::size_t underscore = std::string_view::npos;
  std::size_t end = 0;
};
Subscript find_subscript(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('_', from); at != std::string_view::npos;
       at = text.find('_', at + 1)) {
    // Greek letters are U+0370..U+03FF: their first UTF-8 byte is 0xCD, 0xCE or 0xCF.
    const bool after_greek = at >= 2 && (static_cast<unsigned char>(text[at - 2]) >= 0xcd &&
                                         static_cast<unsigned char>(text[at - 2]) <= 0xcf);
    std::size_t end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (after_greek && end > at + 1) return {.underscore = at, .end = end};
  }
  return {};
}

template <class Escape, class Mark>
std::string with_subscripts(std::string_view text, const Escape& escape, const Mark& mark) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const Subscript found = find_subscript(text, at);
    if (found.underscore == std::string_view::npos) break;
    out += escape(text.substr(at, found.underscore - at));
    out += mark(text.substr(found.underscore + 1, found.end - found.underscore - 1));
    at = found.end;
  }
  return out + escape(text.substr(at));
}

// Marks of an exponent's beginning and end; no text holds them any more.
constexpr std::string_view kExponent = "\x01", kExponentEnd = "\x02";

const std::map<std::string_view, std::string>& tex_table() {
  static const auto table = [] {
    // clang-format off
    std::map<std::string_view, std::string> all = {
      {"\\", "\\textbackslash{}"}, {"{", "\\{"}, {"}", "\\}"}, {"$", "\\$"}, {"&", "\\&"},
      {"#", "\\#"}, {"%", "\\%"}, {"_", "\\_"}, {"^", "\\textasciicircum{}"},
      {"~", "\\textasciitilde{}"}, {"|", "$|$"}, {"<", "$<$"}, {">", "$>$"}, {"±", "$\\pm$"},
      {"−", "$-$"}, {"×", "$\\times$"}, {"≥", "$\\geq$"}, {"≤", "$\\leq$"}, {"↑", "$\\uparrow$"},
      {"↓", "$\\downarrow$"}, {"→", "$\\rightarrow$"}, {"Δ", "$\\Delta$"}, {"–", "--"},
      {"—", "---"}, {"…", "\\ldots{}"}, {"·", "$\\cdot$"}, {"√", "$\\surd$"}, {"\n", " "},
      {"\r", " "}, {"α", "$\\alpha$"}, {"β", "$\\beta$"}, {"γ", "$\\gamma$"}, {"δ", "$\\delta$"},
      {"ε", "$\\varepsilon$"}, {"η", "$\\eta$"}, {"θ", "$\\theta$"}, {"λ", "$\\lambda$"},
      {"μ", "$\\mu$"}, {"π", "$\\pi$"}, {"ρ", "$\\rho$"}, {"σ", "$\\sigma$"}, {"τ", "$\\tau$"},
      {"φ", "$\\varphi$"}, {"ω", "$\\omega$"},
    };
    // clang-format on
    const auto raise = [&](std::string_view from, char to) {
      all[from] = concat("$^", kExponent, to, kExponentEnd, "$");
    };
    raise(kSuperscriptMinus, '-');
    for (std::size_t i = 0; i < 10; ++i) raise(kSuperscripts[i], "0123456789"[i]);
    return all;
  }();
  return table;
}

}  // namespace

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_word(std::string_view text, std::size_t at, std::size_t length) {
  const auto is_letter = [&](std::size_t place) {
    return place < text.size() && std::isalnum(static_cast<unsigned char>(text[place])) != 0;
  };
  return (at == 0 || !is_letter(at - 1)) && !is_letter(at + length);
}

std::string format_number(double value, int decimals, bool typographic) {
  std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  if (std::isnan(value)) return digits;
  if (std::isinf(value)) return value > 0 ? digits : concat(typographic ? kMinus : "-", digits);
  std::size_t point = digits.find('.');
  if (point == std::string::npos) point = digits.size();
  for (std::size_t at = point; at > 3; at -= 3) digits.insert(at - 3, ",");
  const bool is_zero = digits.find_first_not_of("0.,") == std::string::npos;
  if (value < 0 && !is_zero) digits.insert(0, typographic ? kMinus : "-");
  return digits;
}

std::string plain_number(double value) {
  if (!std::isfinite(value)) return "";
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string p_text(double p) {
  if (p < 0.001) return "< 0.001";
  std::string text;
  for (int places = 3; places < 9; ++places) {  // on the side of .05 that p is on
    text = format_number(p, places);
    if ((std::stod(text) <= kAlpha) == (p <= kAlpha)) break;
  }
  return text;
}

std::string named_p(double p) { return (p < 0.001 ? "p " : "p = ") + p_text(p); }

std::string number_of(std::size_t count, std::string_view what) {
  return concat(count, " ", what, count == 1 ? "" : "s");
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) width += columns_of(next_code_point(text, at));
  return width;
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string wrap(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find(' ', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(at, end - at);
    const std::size_t needed = display_width(word);
    if (used > 0 && used + 1 + needed > width) {
      out += "\n";
      out += indent;
      used = display_width(indent);
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += needed;
    at = end + 1;
  }
  return out;
}

std::string without_controls(std::string_view text) {
  return replace_each(text, std::map<std::string_view, std::string_view>());
}

std::string escape_html(std::string_view text) {
  static const std::map<std::string_view, std::string_view> table = {
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}};
  return replace_each(text, table);
}

std::string escape_markdown(std::string_view text) {
  static const std::map<std::string_view, std::string_view> table = {
      {"|", "\\|"},  {"\\", "\\\\"}, {"`", "\\`"}, {"*", "\\*"}, {"_", "\\_"},
      {"<", "&lt;"}, {"[", "\\["},   {"]", "\\]"}, {"\n", " "},  {"\r", ""}};
  return replace_each(text, table);
}

std::string escape_csv(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return without_controls(text);
  static const std::map<std::string_view, std::string_view> table = {{"\"", "\"\""}};
  return "\"" + replace_each(text, table) + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::vector<std::string> escaped;
  for (const auto& cell : cells) escaped.push_back(escape_csv(cell));
  return join(escaped, ",") + "\n";
}

void add_ends(const std::optional<Interval>& interval, std::vector<std::string>& cells) {
  cells.push_back(interval ? plain_number(interval->low) : "");
  cells.push_back(interval ? plain_number(interval->high) : "");
}

std::string escape_tex(std::string_view text) {
  const auto escape = [](std::string_view part) { return replace_each(part, tex_table()); };
  std::string out = with_subscripts(text, escape, [](std::string_view word) {
    const bool is_digit = word.size() == 1 && word[0] <= '9';
    return is_digit ? concat("$_", word, "$") : concat("$_{\\mathrm{", word, "}}$");
  });
  replace_all(out, concat(kExponentEnd, "$$^", kExponent), "");  // 10⁻⁸ has one exponent
  replace_all(out, kExponent, "{");
  replace_all(out, kExponentEnd, "}");
  // "$\lambda$$_{init}$" is one formula, not two.
  for (std::size_t at = out.find("$$"); at != std::string::npos; at = out.find("$$", at)) {
    if (at > 0 && out[at - 1] == '\\') {
      ++at;  // "\$$<$": a dollar sign and a formula
    } else {
      out.erase(at, 2);
    }
  }
  return out;
}

std::string subscripts_html(std::string_view text) {
  return with_subscripts(text, escape_html, [](std::string_view word) {
    return "<sub>" + std::string(word) + "</sub>";
  });
}

}  // namespace difflab::report
