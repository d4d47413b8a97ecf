#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "report/table/table.h"

namespace difflab::report {

/// A table as text, before any markup: what Markdown, LaTeX, HTML and the terminal share.
struct Grid {
  struct Column {
    std::string heading;
    bool is_text = false;  ///< left-aligned
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> rules;  ///< rows with a line above them: a new group begins
};

/// Rows × metrics: labels, number of runs, one cell per metric, troubles if there are any.
Grid main_grid(const Table& table, const Labels& labels);

/// Differences to the baseline, one row per variant and metric; no rows if nothing is compared.
/// A terminal has no room for the bootstrap's interval and the p of each alone.
enum class Bootstrap { kShown, kLeftOut };
Grid paired_grid(const Table& table, const Labels& labels, Bootstrap bootstrap = Bootstrap::kShown);

/// "−0.2", of a ratio "× 0.65".
std::string effect_cell(const Metric& metric, const Contrast& found);

/// For a program: difference, low, high, and of a ratio these three behind them instead, and its
/// test.
std::vector<std::string> effect_fields(const std::optional<Contrast>& found);
/// Additional columns of a file of comparisons where times are ratios, in this order.
inline constexpr std::array kRatioColumns = {"ratio", "ratio_low", "ratio_high", "test"};

std::string to_markdown(const Grid& grid);
/// One booktabs tabular, or several below each other, each within 240 pt, a column of a paper,
/// unless a word is longer.
std::string to_tex(const Grid& grid);
/// One line of LaTeX comment, however many lines the text has; TeX ends one at a carriage return,
/// too.
std::string tex_comment(const std::string& text);
std::string to_html(const Grid& grid);  ///< a <table>
/// Aligned columns; a grid wider than `width` continues below with the names of its rows repeated.
std::string to_terminal(const Grid& grid, std::size_t width);

}  // namespace difflab::report
