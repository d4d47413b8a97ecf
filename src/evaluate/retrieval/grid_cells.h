#pragma once

#include "evaluate/base/evaluation.h"

namespace difflab {

/// Passes a cell's problems on under the key of the grid that made them.
class CellCheck final : public config::Check {
 public:
  CellCheck(config::Check& outer, std::string cell) : outer_(outer), cell_(std::move(cell)) {}
  void problem(std::string_view key, std::string_view message) override {
    const std::string_view grid_key = key == "length" ? "lengths" : "needles";
    outer_.problem(grid_key, concat("makes a cell (", cell_, ") whose ", key, " ", message));
  }

 private:
  config::Check& outer_;
  std::string cell_;
};

/// The cells that a grid (its needles, queries, lengths, depths) asks of a needle task, outermost
/// the needles; cells with R > N are left out.
template <class Grid, class Needles>
std::vector<Needles> cells_of(const Grid& grid, const Needles& base) {
  std::vector<Needles> cells;
  for (const auto N : grid.needles) {
    for (const auto R : grid.queries) {
      if (R > N) continue;
      for (const auto T : grid.lengths.empty() ? std::vector{base.length} : grid.lengths) {
        for (const auto depth : grid.depths) {
          auto& cell = cells.emplace_back(with_length(base, T));
          cell.needles = N;
          cell.queries = R;
          cell.depth = depth;
        }
      }
    }
  }
  return cells;
}

/// Every cell of the grid must be possible.
template <class Grid, class Needles>
void check_cells(const Grid& grid, const Needles& base, config::Check& check) {
  auto one_depth = grid;
  one_depth.depths = {0};  // each problem once
  for (const auto& cell : cells_of(one_depth, base)) {
    CellCheck cell_check(check, concat(cell.needles, " needles, ", cell.queries, " queries, ",
                                       cell.length, " tokens"));
    cell.validate(cell_check);
  }
}

/// A cell as the report reads it: `correct` of samples · queries questions answered right, and
/// `all_correct` of the samples entirely.
/// @param chance of a question
template <class Needles>
Json cell_json(const Needles& cell, std::int64_t samples, std::int64_t correct,
               std::int64_t all_correct, double chance) {
  const auto n = samples * cell.queries;
  Json told = {{"needles", cell.needles}, {"queries", cell.queries}, {"length", cell.length},
               {"depth", *cell.depth},    {"samples", samples},      {"n", n},
               {"correct", correct}};
  add_accuracy(told, correct, n);
  told["all_correct"] = static_cast<double>(all_correct) / static_cast<double>(samples);
  told["chance"] = chance;
  return told;
}

}  // namespace difflab
