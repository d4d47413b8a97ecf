#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace difflab::referee {

/// A table as its CSV has it (RFC 4180), the first line being its columns.
struct CsvTable {
  std::string file;  ///< its name as the reader of a finding looks for it, e.g. "figures/bits.csv"
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`

  std::optional<std::size_t> column(std::string_view name) const;
  bool has(std::string_view name) const { return column(name).has_value(); }
  std::string text(std::size_t row, std::string_view name) const;  ///< "" without such a column
  std::optional<double> number(std::size_t row, std::string_view name) const;
  /// The columns before those of metrics, as far as they name the row: "diff, 0.003".
  std::string row_name(std::size_t row) const;
  /// How many columns those are.
  std::size_t keys() const;
};

/// @throws UserError if lines differ in their number of cells or a quote is not closed.
CsvTable parse_csv(const std::string& text, std::string file);

}  // namespace difflab::referee
