#include "config/grid/key_docs.h"

#include <array>
#include <utility>

namespace difflab::config {
namespace {

/// A bar would end the cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

/// "integer, 2 to 100" for "a whole number from 2 to 100", which messages say.
std::string in_short(std::string values) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kShorter{
      {{"a whole number", "integer"},
       {"a number", "number"},
       {"a list:", "list:"},
       {" from ", ", "},
       {" of at least ", " ≥ "},
       {" | ", ", "}}};
  for (const auto& [from, to] : kShorter) {
    for (auto at = values.find(from); at != values.npos; at = values.find(from))
      values.replace(at, from.size(), to);
  }
  return values;
}

std::string in_code(const std::string& text) { return text.empty() ? "" : concat("`", text, "`"); }

}  // namespace

std::string to_markdown(const std::vector<KeyTable>& tables) {
  std::string text;
  for (const KeyTable& table : tables) {
    text += concat(&table == &tables.front() ? "## " : "### ", table.heading, "\n\n");
    if (table.keys.empty()) {
      text += "No keys of its own.\n\n";
      continue;
    }
    text += "| key | default | values | meaning |\n|---|---|---|---|\n";
    for (const KeyDoc& key : table.keys) {
      text += concat("| ", in_code(key.path), " | ", cell(in_code(key.fallback)), " | ",
                     cell(in_short(key.values)), " | ", cell(key.about), " |\n");
    }
    text += "\n";
  }
  return text;
}

}  // namespace difflab::config
