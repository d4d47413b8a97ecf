#include "config/grid/key_docs.h"

namespace difflab::config {
namespace {

/// A bar would end the cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
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
                     cell(key.values), " | ", cell(key.about), " |\n");
    }
    text += "\n";
  }
  return text;
}

}  // namespace difflab::config
