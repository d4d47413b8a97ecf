#include "referee/base/csv.h"

#include <algorithm>

#include "report/data/frame.h"
#include "util/error.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

// Columns that tell of a row or a figure's group, and no longer which one it is.
bool tells(std::string_view column) {
  static constexpr std::string_view kWords[] = {"runs", "metric", "run"};
  return column.starts_with("mean_") || std::ranges::find(kWords, column) != std::end(kWords);
}

// The cells of all lines.
std::vector<std::vector<std::string>> lines_of(const std::string& text, const std::string& file) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> line = {""};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted) {
      const bool ends = letter == '"' && (i + 1 == text.size() || text[i + 1] != '"');
      if (ends) {
        quoted = false;
      } else {
        line.back() += letter;
        if (letter == '"') ++i;  // two stand for one
      }
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == ',') {
      line.emplace_back();
    } else if (letter == '\n') {
      lines.push_back(std::move(line));
      line = {""};
    } else if (letter != '\r') {
      line.back() += letter;
    }
  }
  if (quoted) throw UserError(file + ": a quote is not closed");
  if (line.size() > 1 || !line[0].empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

std::string CsvTable::text(std::size_t row, std::string_view name) const {
  const auto at = column(name);
  return at ? rows[row][*at] : "";
}

std::optional<double> CsvTable::number(std::size_t row, std::string_view name) const {
  return report::parse_number(text(row, name));
}

std::size_t CsvTable::keys() const {
  return static_cast<std::size_t>(std::ranges::find_if(columns, tells) - columns.begin());
}

std::string CsvTable::row_name(std::size_t row) const {
  const auto end = rows[row].begin() + static_cast<std::ptrdiff_t>(keys());
  const std::string name = join({rows[row].begin(), end});
  return name.empty() ? "all runs" : name;
}

CsvTable parse_csv(const std::string& text, std::string file) {
  auto lines = lines_of(text, file);
  CsvTable table;
  table.file = std::move(file);
  if (lines.empty()) return table;
  table.columns = std::move(lines.front());
  lines.erase(lines.begin());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() == table.columns.size()) continue;
    throw UserError(concat(table.file, ":", i + 2, ": ", lines[i].size(), " cells; expected ",
                           table.columns.size()));
  }
  table.rows = std::move(lines);
  return table;
}

}  // namespace difflab::referee
