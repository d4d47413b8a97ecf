#include "report/table/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/data/format.h"
#include "util/text.h"

namespace difflab::report {
namespace {

constexpr int kBootstrapColumn = 4;  // of the paired grid
constexpr double kTerminalGap = 2;   // between columns of a terminal
// A column of a two-column paper, and letters of 8 pt in it.
constexpr double kPointsOfColumn = 240, kPointsBetween = 6, kPointsOfLetter = 4.5;
constexpr double kWidestCell = 72;  // others are broken into lines

// Removes what a terminal has no room for: the bootstrap's interval, and p before adjustment.
void leave_out(auto& cells) {
  cells.erase(cells.begin() + kBootstrapColumn, cells.begin() + kBootstrapColumn + 2);
}

// "5", "5 (2 censored)", "3 (2 not learned)", "3 (2 diverged)".
std::string pairs_text(const Pairs& pairs) {
  std::vector<std::string> besides;
  if (pairs.censored > 0) besides.push_back(concat(pairs.censored, " censored"));
  if (pairs.unlearned > 0) besides.push_back(concat(pairs.unlearned, " not learned"));
  if (pairs.diverged > 0) besides.push_back(concat(pairs.diverged, " diverged"));
  return concat(pairs.differences.size(), besides.empty() ? "" : " (" + join(besides) + ")");
}

// A heading in at most two lines, broken where both are shortest.
std::pair<std::string, std::string> two_lines(const std::string& heading, std::size_t wanted) {
  if (display_width(heading) <= wanted) return {"", heading};
  std::pair<std::string, std::string> best{"", heading};
  std::size_t best_width = display_width(heading);
  for (std::size_t at = heading.find(' '); at != std::string::npos;
       at = heading.find(' ', at + 1)) {
    const std::string above = heading.substr(0, at);
    const std::string below = heading.substr(at + 1);
    const std::size_t width = std::max(display_width(above), display_width(below));
    if (width < best_width) {
      best = {above, below};
      best_width = width;
    }
  }
  return best;
}

struct Layout {
  std::vector<std::size_t> widths;
  std::vector<std::pair<std::string, std::string>> headings;
};

Layout lay_out(const Grid& grid) {
  Layout layout;
  for (std::size_t column = 0; column < grid.columns.size(); ++column) {
    std::size_t width = 1;
    for (const auto& row : grid.rows) width = std::max(width, display_width(row[column]));
    layout.headings.push_back(two_lines(grid.columns[column].heading, width));
    const auto& [above, below] = layout.headings.back();
    layout.widths.push_back(std::max({width, display_width(above), display_width(below)}));
  }
  return layout;
}

// Columns of the blocks into which a grid wider than `most` is cut. Each begins with the columns
// that name a row, the texts in front, as long as they take no larger share; at least with the
// first.
std::vector<std::vector<std::size_t>> blocks(const Grid& grid, const std::vector<double>& widths,
                                             double gap, double most, double most_for_names) {
  std::vector<std::size_t> names{0};
  double named = widths[0] + gap;
  for (std::size_t c = 1; c + 1 < widths.size() && grid.columns[c].is_text; ++c) {
    if (named + widths[c] + gap > most_for_names * most) break;
    named += widths[c] + gap;
    names.push_back(c);
  }
  std::vector<std::vector<std::size_t>> found;
  std::size_t column = names.size();
  do {
    auto& columns = found.emplace_back(names);
    double used = named;
    while (column < widths.size() &&
           (columns.size() == names.size() || used + widths[column] + gap <= most)) {
      used += widths[column] + gap;
      columns.push_back(column++);
    }
  } while (column < widths.size());
  return found;
}

std::string block(const Grid& grid, const Layout& layout, const std::vector<std::size_t>& columns) {
  const auto line = [&](const auto& text) {
    std::string out = " ";
    for (const std::size_t column : columns) {
      const std::size_t width = layout.widths[column];
      out += " " +
             (grid.columns[column].is_text ? pad_right(text(column), width)
                                           : pad_left(text(column), width)) +
             " ";
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::size_t total = 0;
  for (const std::size_t column : columns) total += layout.widths[column] + 2;
  std::string rule = "  ";
  for (std::size_t i = 2; i < total; ++i) rule += "─";
  rule += "\n";
  std::string out;
  const bool tall = std::ranges::any_of(
      columns, [&](std::size_t column) { return !layout.headings[column].first.empty(); });
  if (tall) out += line([&](std::size_t c) { return layout.headings[c].first; });
  out += line([&](std::size_t c) { return layout.headings[c].second; }) + rule;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    const bool ruled = row > 0 && std::ranges::count(grid.rules, row) > 0;
    if (ruled) out += rule;
    out += line([&](std::size_t c) { return grid.rows[row][c]; });
  }
  return out;
}

// The width of a column in a paper. Cells are broken between words.
double points(const Grid& grid, const Layout& layout, std::size_t column) {
  std::size_t longest = 0;
  const auto look = [&](const std::string& text) {
    for (const auto& word : split(text, ' ')) longest = std::max(longest, display_width(word));
  };
  look(grid.columns[column].heading);
  for (const auto& row : grid.rows) look(row[column]);
  return std::min(kPointsOfLetter * static_cast<double>(layout.widths[column]),
                  std::max(kWidestCell, kPointsOfLetter * static_cast<double>(longest)));
}

std::string tex_block(const Grid& grid, const std::vector<double>& widths,
                      const std::vector<std::size_t>& columns) {
  // Behind \\, \toprule and \midrule a first [ or * would be read as an option.
  const auto row_of = [&](const auto& text) {
    std::string line;
    for (const std::size_t c : columns) line += (c == columns.front() ? "" : " & ") + text(c);
    return concat(line.starts_with('[') || line.starts_with('*') ? "{}" : "", line, " \\\\\n");
  };
  std::string out = "\\begin{tabular}{@{}";
  for (const std::size_t c : columns) {
    out += fmt::format(">{{\\ragged{}\\arraybackslash}}p{{{:.0f}pt}}",
                       grid.columns[c].is_text ? "right" : "left", std::ceil(widths[c]));
  }
  out += "@{}}\n\\toprule\n" +
         row_of([&](std::size_t c) { return escape_tex(grid.columns[c].heading); }) + "\\midrule\n";
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    if (row > 0 && std::ranges::count(grid.rules, row) > 0) out += "\\midrule\n";
    out += row_of([&](std::size_t c) { return escape_tex(grid.rows[row][c]); });
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace

std::string effect_cell(const Metric& metric, const Contrast& found) {
  return concat(found.is_ratio ? "× " : "", effect_text(metric, found.difference, found.is_ratio));
}

std::vector<std::string> effect_fields(const std::optional<Contrast>& found) {
  std::vector<std::string> fields(7);
  if (!found) return fields;
  const auto put = [&](std::size_t at, double value) {
    fields[at + (found->is_ratio ? 3 : 0)] =
        plain_number(found->is_ratio ? std::exp(value) : value);
  };
  put(0, found->difference);
  if (const auto& interval = found->interval) put(1, interval->low), put(2, interval->high);
  fields[6] = found->test;
  return fields;
}

Grid main_grid(const Table& table, const Labels& labels) {
  Grid grid;
  for (const std::string& heading : table.axis_headings) grid.columns.push_back({heading, true});
  if (table.axes.empty()) grid.columns.push_back({"", true});
  const bool troubled =
      std::ranges::any_of(table.rows, [](const TableRow& row) { return !row.troubles().empty(); });
  grid.columns.push_back({"runs", false});
  if (troubled) grid.columns.push_back({"not as planned", true});
  for (const std::string& heading : table.headings) grid.columns.push_back({heading, false});
  for (const TableRow& row : table.rows) {
    std::vector<std::string> cells;
    for (const std::string& value : row.key) cells.push_back(labels.value(value));
    if (table.axes.empty()) cells.emplace_back("all runs");
    const std::size_t results = row.results();
    cells.push_back(results == row.runs.size() ? concat(results)
                                               : concat(results, " of ", row.runs.size()));
    if (troubled) cells.push_back(row.troubles());
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      cells.push_back(row.cells[column].text(table.columns[column], results));
    }
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

Grid paired_grid(const Table& table, const Labels& labels, Bootstrap bootstrap) {
  Grid grid;
  const char* effect = table.has_ratios ? "difference or ratio to " : "difference to ";
  grid.columns = {{"metric", true},
                  {join(table.axis_headings), true},
                  {effect + table.baseline, false},
                  {"95 % interval", false},
                  {"bootstrap", false},
                  {"p", false},
                  {"p (Holm)", false},
                  {"pairs", false}};
  for (const Comparison& comparison : table.comparisons) {
    const Metric& metric = table.columns[comparison.column];
    const bool first =
        grid.rows.empty() || table.comparisons[grid.rows.size() - 1].column != comparison.column;
    if (first) grid.rules.push_back(grid.rows.size());
    std::vector<std::string> cells = {first ? table.headings[comparison.column] : "",
                                      table.row_label(table.rows[comparison.row], labels)};
    if (const auto& result = comparison.result) {
      const bool has_p = result->pairs > 1;
      cells.insert(
          cells.end(),
          {effect_cell(metric, *result), range_text(metric, result->interval, result->is_ratio),
           range_text(metric, comparison.bootstrap), has_p ? p_text(result->p) : "",
           has_p ? p_text(comparison.p_holm) : "", pairs_text(comparison.pairs)});
    } else {
      cells.insert(cells.end(), {"", "", "", "", "", pairs_text(comparison.pairs)});
    }
    if (bootstrap == Bootstrap::kLeftOut) leave_out(cells);
    grid.rows.push_back(std::move(cells));
  }
  if (bootstrap == Bootstrap::kLeftOut) leave_out(grid.columns);
  return grid;
}

std::string to_markdown(const Grid& grid) {
  std::string out = "|";
  std::string rule = "|";
  for (const auto& column : grid.columns) {
    out += " " + escape_markdown(column.heading) + " |";
    rule += column.is_text ? " :-- |" : " --: |";
  }
  out += "\n" + rule + "\n";
  for (const auto& row : grid.rows) {
    out += "|";
    for (const std::string& cell : row) out += " " + escape_markdown(cell) + " |";
    out += "\n";
  }
  return out;
}

std::string tex_comment(const std::string& text) {
  std::string line = without_controls(text);
  std::ranges::replace_if(
      line, [](unsigned char letter) { return letter < ' '; }, ' ');
  return "% " + line + "\n";
}

std::string to_tex(const Grid& grid) {
  const Layout layout = lay_out(grid);
  std::vector<double> widths;
  for (std::size_t c = 0; c < grid.columns.size(); ++c) widths.push_back(points(grid, layout, c));
  std::string out = "{\\footnotesize\\setlength{\\tabcolsep}{3pt}%\n";
  bool is_first = true;
  for (const auto& columns : blocks(grid, widths, kPointsBetween, kPointsOfColumn, 0.65)) {
    out += is_first ? "" : "\n\\smallskip\n";
    out += tex_block(grid, widths, columns);
    is_first = false;
  }
  return out + "}\n";
}

std::string to_html(const Grid& grid) {
  const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
    const char* kind = grid.columns[column].is_text ? "" : " class=\"number\"";
    return concat("<", tag, kind, ">", subscripts_html(text), "</", tag, ">");
  };
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
  for (std::size_t column = 0; column < grid.columns.size(); ++column) {
    out += cell("th", column, grid.columns[column].heading);
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    const bool ruled = std::ranges::count(grid.rules, row) > 0;
    out += ruled ? "<tr class=\"group\">" : "<tr>";
    for (std::size_t column = 0; column < grid.columns.size(); ++column) {
      out += cell("td", column, grid.rows[row][column]);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string to_terminal(const Grid& grid, std::size_t width) {
  const Layout layout = lay_out(grid);
  const std::vector<double> widths(layout.widths.begin(), layout.widths.end());
  std::string out;
  for (const auto& columns :
       blocks(grid, widths, kTerminalGap, static_cast<double>(width) - kTerminalGap, 0.8)) {
    if (!out.empty()) out += "\n";
    out += block(grid, layout, columns);
  }
  return out;
}

}  // namespace difflab::report
