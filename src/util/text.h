#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace difflab {

/// The printed arguments in one string: concat("T = ", 300) is "T = 300".
template <class... Args>
std::string concat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return std::move(out).str();
}

/// The words with `separator` between them.
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");

/// "a,b" -> {"a", "b"}; "" -> {""}.
std::vector<std::string> split(std::string_view text, char separator);

/// The last line of a text that is not blank, without its line end; "" if there is none.
std::string last_line(std::string_view text);

/// The candidate nearest to `word` in edit distance, or nothing if none is within two edits.
std::optional<std::string> closest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "; did you mean X?" for the closest candidate, otherwise "; expected one of A, B, C".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace difflab
