#include "config/grid/key_docs.h"

#include <algorithm>
#include <array>

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

/// Least number of keys for which a map refers to an equal one above it.
constexpr std::size_t kLongMap = 4;

bool holds(const KeyTable& table, const KeyDoc& key) {
  return std::ranges::find(table.keys, key) != table.keys.end();
}

/// The keys below a map, without its path.
std::vector<KeyDoc> keys_below(const std::string& map, const KeyTable& table) {
  std::vector<KeyDoc> keys;
  for (KeyDoc key : table.keys) {
    if (!key.path.starts_with(concat(map, "."))) continue;
    key.path.erase(0, map.size() + 1);
    keys.push_back(std::move(key));
  }
  return keys;
}

/// The table without the keys of long maps whose keys a map above has already listed.
KeyTable without_repeats(const KeyTable& table) {
  std::vector<std::pair<std::string, std::vector<KeyDoc>>> maps;
  KeyTable kept{table.heading, {}};
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    kept.keys.push_back(table.keys[i]);
    KeyDoc& key = kept.keys.back();
    const auto below = keys_below(key.path, table);
    if (below.size() < kLongMap) continue;
    const auto same =
        std::ranges::find_if(maps, [&](const auto& map) { return map.second == below; });
    if (same == maps.end()) {
      maps.emplace_back(key.path, below);
    } else {
      key.about += concat("; its keys are those of `", same->first, "`");
      i += below.size();
    }
  }
  return kept;
}

std::string rows(const KeyTable& table) {
  if (table.keys.empty()) return "No keys of its own.\n\n";
  std::string text = "| key | default | values | meaning |\n|---|---|---|---|\n";
  for (const KeyDoc& key : table.keys) {
    text += concat("| ", in_code(key.path), " | ", cell(in_code(key.fallback)), " | ",
                   cell(in_short(key.values)), " | ", cell(key.about), " |\n");
  }
  return text + "\n";
}

/// The keys that all kinds of a choice have in common.
KeyTable shared_keys(const std::string& choice, const std::vector<KeyTable>& tables) {
  KeyTable shared{concat("Every `", choice, "`"), {}, choice};
  const auto is_kind = [&](const KeyTable& table) { return table.choice == choice; };
  const auto first = std::ranges::find_if(tables, is_kind);
  for (const KeyDoc& key : first->keys) {
    const bool everywhere = std::ranges::all_of(
        tables, [&](const KeyTable& table) { return !is_kind(table) || holds(table, key); });
    if (everywhere) shared.keys.push_back(key);
  }
  return shared;
}

}  // namespace

std::string to_markdown(const std::vector<KeyTable>& tables) {
  std::string text;
  KeyTable shared;  // of the choice whose kinds are being written
  for (const KeyTable& table : tables) {
    if (table.choice.empty()) {
      text += concat(&table == &tables.front() ? "## " : "### ", table.heading, "\n\n",
                     rows(without_repeats(table)));
      continue;
    }
    if (shared.choice != table.choice) {
      shared = shared_keys(table.choice, tables);
      if (!shared.keys.empty()) text += concat("### ", shared.heading, "\n\n", rows(shared));
    }
    KeyTable own{table.heading, {}};
    for (const KeyDoc& key : table.keys) {
      if (!holds(shared, key)) own.keys.push_back(key);
    }
    text += concat("### ", own.heading, "\n\n", rows(own));
  }
  return text;
}

}  // namespace difflab::config
